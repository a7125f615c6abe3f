/* The versions: of the library and the command, and of the report's schema. */
#ifndef SC_REPORT_VERSION_H
#define SC_REPORT_VERSION_H

#define SAFECOPY_DECLARATIONS
#include "include/safecopy.h"

#define SC_VERSION SAFECOPY_VERSION_STRING

/* The schema of a report's lines. docs/compatibility.md says which changes raise the number. */
enum { SC_REPORT_SCHEMA = 1 };

/* The first bytes of every report, whatever its schema. */
#define SC_REPORT_BEGINNING "{\"type\":\"run\",\"schema\":"

#endif
