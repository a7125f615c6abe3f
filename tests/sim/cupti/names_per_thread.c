#define CUDA_API_PER_THREAD_DEFAULT_STREAM
#define NAMES cupti_sim_per_thread_names
#include "driver_names.h"
