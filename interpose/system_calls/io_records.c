/* Hooks of the functions that take or fill records of a known size. */
#include "interpose/system_calls/io_rows.h"

#include "interpose/base/loader.h"
#include "track/track_front.h" /* SC_IO_QUICK */

#define NEXT_RECORD SC_NEXT_LATE_RECORD /* these functions are looked up late (loader.h) */
#include "interpose/system_calls/io_records.def"
