// expect: none
// options: kernels=order
//
// The same where what may run counts as a possible use.
#include "none_conditional_waited.c"
