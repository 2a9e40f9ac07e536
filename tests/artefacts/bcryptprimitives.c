/* A stand-in for a library of Windows that Wine 8 lacks, for runs of tests alone: random bytes, which Rust's standard library
 * takes from it, come from the older function of Windows. */
#include <windows.h>

BOOLEAN NTAPI SystemFunction036(PVOID buffer, ULONG length);

__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE buffer, SIZE_T length)
{
    return length <= 0x7fffffff && SystemFunction036(buffer, (ULONG)length);
}
