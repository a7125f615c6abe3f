#include "interpose/base/unwind_library.h"

#include <dlfcn.h>

#include "common/text.h"
#include "report/libraries.h"
#include "report/options.h"
#include "report/report.h"

#include "common/poison.h"

/* Opens libunwind. A distributed library has a libunwind with a name of its own in its folder:
 * under the usual name it would replace the system's for what the program loads later. */
void *sc_unwind_library_open(void)
{
    enum { FLAGS = RTLD_NOW | RTLD_LOCAL };
    void *library = sc_libraries_open_beside_us("libsafecopy-unwind.so.8", FLAGS);
    if (!library)
        library = sc_libraries_open_beside_us("libunwind.so.8", FLAGS);
    return library ? library : sc_libraries_open("libunwind.so.8", FLAGS);
}

/* Says on stderr if it is not known any more from which folder this library was loaded, as after a
 * relative name and chdir: no library beside it can then be used. */
static void say_own_folder(void)
{
    char bytes[SC_OPTIONS_PATH_SIZE];
    const void *us = (const void *)sc_unwind_library_open;
    Dl_info own;
    if (sc_libraries_find_path(us, bytes, sizeof bytes) || !dladdr(us, &own) || !own.dli_fname)
        return;
    struct sc_text line = sc_text_in(bytes, sizeof bytes);
    sc_text_format(&line,
                   "where %s was loaded from is not known any more, so no library beside it is "
                   "used: name its whole path, from / on",
                   own.dli_fname);
    sc_report_say(NULL, line.bytes);
}

/* Says on stderr, as far as `verbosity` permits, in which folders libunwind was not searched for.
 * Relative folders are left out: anyone may have put a library into one. */
void sc_unwind_library_say_skipped(int verbosity)
{
    if (verbosity >= 1)
        say_own_folder();
    if (verbosity >= 2) {
        SC_TEXT(line, SC_OPTIONS_PATH_SIZE);
        sc_text_put(&line,
                    "relative folders of LD_LIBRARY_PATH and of run paths (\".\" if one is empty) "
                    "are not searched: name them from / on, or leave them out: ");
        size_t before = line.used;
        sc_libraries_put_passed_over(&line);
        if (line.used > before)
            sc_report_say(NULL, line.bytes);
    }
}
