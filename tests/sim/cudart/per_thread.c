/* The _ptsz and _ptds functions, for which stream 0 is the calling thread's own stream. */
#define CUDA_API_PER_THREAD_DEFAULT_STREAM
#include "stream_api.h"
