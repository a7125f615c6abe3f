/* As libframe_large.so, with a frame of 1 KB. */
#define FRAME_BYTES 1024
#include "tests/survival/lib/frame_large.c"
