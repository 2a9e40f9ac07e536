/* Replaces a Windows library that Wine 8 lacks, for test runs only. Rust's standard library gets random bytes from it, and this
 * version gets them from Windows' older function. */
#include <windows.h>

BOOLEAN NTAPI SystemFunction036(PVOID buffer, ULONG length);

__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE buffer, SIZE_T length)
{
    return length <= 0x7fffffff && SystemFunction036(buffer, (ULONG)length);
}
