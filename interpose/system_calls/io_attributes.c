/* Hooks of functions that read what Linux knows of files, or their attributes. */
#include "interpose/system_calls/io_rows.h"

#include "interpose/base/loader.h"

#define NEXT_RECORD SC_NEXT_LATE_RECORD /* these functions are looked up late (loader.h) */
#include "interpose/system_calls/io_attributes.def"
