#include "interpose/base/warning.h"

#include <stdarg.h>

#include "interpose/base/process.h"
#include "report/options.h"
#include "report/report.h"
#include "track/text.h"

#include "track/poison.h"

void sc_warning_say(const char *format, ...)
{
    char line[SC_OPTIONS_PATH_SIZE + 256];
    struct sc_text text = sc_text_in(line, sizeof line);
    va_list values;
    if (sc_options.verbosity < 1)
        return;
    va_start(values, format);
    sc_text_format_list(&text, format, &values);
    va_end(values);
    sc_report_say(NULL, line);
}
