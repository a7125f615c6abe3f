/* The runtime functions for which stream 0 is the legacy stream. */
#include "stream_api.h"
