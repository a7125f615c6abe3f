/* The full kind of descriptor, which answers touches by the kernel as well, and which a process may
 * not always open: out/full_kind/libsafecopy.so has it, for the suite full-kind. */
#define USER_MODE_ONLY 0
#include "report/userfaultfd.c"
