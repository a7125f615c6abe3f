#include "interpose/base/warning.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "common/text.h"
#include "interpose/base/process.h"
#include "report/options.h"
#include "report/report.h"

#include "common/poison.h"

/* The stack may have little room, so this static line has room for a path. Of threads that warn at
 * the same time, only one gets it. */
static char line[SC_OPTIONS_PATH_SIZE + 256];
static atomic_flag is_taken = ATOMIC_FLAG_INIT;

/* Writes a line on stderr, unless verbosity=0. The buffer of a whole line is static, as the stack
 * may have little room; a thread that warns while another uses it gets a short line. */
void sc_warning_say(const char *format, ...)
{
    char brief[256];
    va_list values;
    if (sc_options.verbosity < 1)
        return;
    bool is_ours = !atomic_flag_test_and_set(&is_taken);
    struct sc_text text = sc_text_in(is_ours ? line : brief, is_ours ? sizeof line : sizeof brief);
    va_start(values, format);
    sc_text_format_list(&text, format, &values);
    va_end(values);
    sc_report_say(NULL, text.bytes);
    if (is_ours)
        atomic_flag_clear(&is_taken);
}
