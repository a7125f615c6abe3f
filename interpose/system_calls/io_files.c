/* Hooks of the functions that take names of files. */
#include "interpose/system_calls/io_rows.h"

#include "interpose/base/loader.h"

#define NEXT_RECORD SC_NEXT_LATE_RECORD /* these functions are looked up late (loader.h) */
#include "interpose/system_calls/io_files.def"
