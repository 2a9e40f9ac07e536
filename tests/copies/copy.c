// Copies a process as an image is copied, for Python and Node: a raw `clone()` that keeps the page that the kernel wipes at a
// fork and memory that a child does not get, and that makes shared memory private. `core/tests/support/image.rs` does the same in Rust.
//
// cc -shared -fPIC -I NODE/include/node -o copy.node copy.c
#define _GNU_SOURCE
#include <node_api.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

// These functions exist only in Node, so the references to them are weak.
#pragma weak napi_create_int64
#pragma weak napi_create_function
#pragma weak napi_get_undefined

enum { MAX_SHARED = 64, KEEP_ON_FORK = 19 };

typedef struct {
  char *start, *saved;
  size_t length;
} Mapping;

// Keeps wiped pages, and returns the number of shared mappings, whose content it saves.
static int prepare(Mapping *shared) {
  FILE *maps = fopen("/proc/self/smaps", "r");
  char line[4096], access[8], path[4096];
  unsigned long start = 0, end = 0;
  int count = 0;
  if (!maps) return -1;
  while (fgets(line, sizeof line, maps)) {
    unsigned long from, to;
    path[0] = 0;
    if (sscanf(line, "%lx-%lx %7s %*s %*s %*s %4095s", &from, &to, access, path) >= 3) {
      start = from, end = to;
      if (access[3] == 's' && strcmp(path, "/dev/zero") == 0 && count < MAX_SHARED) {
        shared[count].start = (char *)start;
        shared[count++].length = end - start;
      }
    } else if (strncmp(line, "VmFlags:", 8) == 0) {
      if (strstr(line, " wf") && madvise((void *)start, end - start, KEEP_ON_FORK) != 0) return -1;
      // V8 keeps its code from forked children, but an image has all memory.
      if (strstr(line, " dc")) madvise((void *)start, end - start, MADV_DOFORK);
    }
  }
  fclose(maps);
  // The shared memory is saved before the copy is made, because this process changes it as soon as it continues.
  for (int k = 0; k < count; k++) {
    shared[k].saved = malloc(shared[k].length);
    if (!shared[k].saved) return -1;
    memcpy(shared[k].saved, shared[k].start, shared[k].length);
  }
  return count;
}

// Returns 0 in the copy. In the original, returns the copy's process ID, or -1 if the copy could not be made.
long copy_process(void) {
  Mapping shared[MAX_SHARED];
  int count = prepare(shared);
  if (count < 0) return -1;
  long copy = syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
  for (int k = 0; copy == 0 && k < count; k++) {
    int access = PROT_READ | PROT_WRITE, kind = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED;
    if (mmap(shared[k].start, shared[k].length, access, kind, -1, 0) != shared[k].start) _exit(1);
    memcpy(shared[k].start, shared[k].saved, shared[k].length);
  }
  return copy;
}

static napi_value call(napi_env env, napi_callback_info info) {
  (void)info;
  napi_value copy;
  return napi_create_int64(env, copy_process(), &copy) == napi_ok ? copy : NULL;
}

NAPI_MODULE_INIT() {
  (void)exports;
  napi_value function;
  return napi_create_function(env, NULL, 0, call, NULL, &function) == napi_ok ? function : NULL;
}
