/* Hooks of the functions that tell of files, or of their attributes. */
#include "interpose/system_calls/io_rows.h"

#include "interpose/base/loader.h"

#define NEXT_RECORD SC_NEXT_LATE_RECORD /* looked up late (loader.h) */
#include "interpose/system_calls/io_attributes.def"
