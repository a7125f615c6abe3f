// expect: none
// options: kernels=report
// needs: preload
//
// The same where kernels are merely reported.
#include "none_kernel_writes_source_driver.c"
