#define _GNU_SOURCE 1
#include "report/command/doctor/diagnosis.h"

#include "report/place.h"

#include <string.h>

static const char section[] = "settings";

#define NOTE(id, remedy, ...)                                                                      \
    sc_diagnosis_add(diagnosis, SC_LEVEL_NOTE, section, id, remedy, __VA_ARGS__)
#define PROBLEM(id, remedy, ...)                                                                   \
    sc_diagnosis_add(diagnosis, SC_LEVEL_PROBLEM, section, id, remedy, __VA_ARGS__)

/* Returns the list of lines; an empty one for NULL, so that callers can walk over it. */
static const char *const *lines_of(const char *const *list)
{
    static const char *const none[] = {NULL};
    return list ? list : none;
}

/* Tells what is wrong with SAFECOPY_OPTIONS. */
static void of_options(struct sc_diagnosis *diagnosis, const struct sc_settings_facts *facts)
{
    for (const char *const *line = lines_of(facts->complaints); *line; line++)
        PROBLEM("bad-option", "Mend SAFECOPY_OPTIONS; safecopy help options lists the keys", "%s",
                *line);
    if (facts->is_off)
        PROBLEM("mode-off", "Take mode=off out of SAFECOPY_OPTIONS",
                "SAFECOPY_OPTIONS has mode=off: the library does nothing");
}

/* Adds findings that say where reports cannot be written, or lie elsewhere than the user may think.
 */
static void of_report(struct sc_diagnosis *diagnosis, const struct sc_settings_facts *facts)
{
    static const char elsewhere[] = "ame another place: safecopy run --report-dir DIR, or "
                                    "report_path in SAFECOPY_OPTIONS";
    const char *remedy = NULL, *words = NULL;
    if (facts->report_error != 0)
        words = sc_place_find_failure(facts->report_error, &remedy);
    if (facts->report_error != 0)
        PROBLEM("reports-refused",
                sc_scratch_print(diagnosis->scratch, "%s%s%s", remedy ? remedy : "",
                                 remedy ? ", or n" : "N", elsewhere),
                "reports cannot be written to %s: %s", facts->report,
                words ? words : strerror(facts->report_error));
    else if (facts->report_kept)
        NOTE("report-kept", "Move it, or add %p to report_path",
             "%s %s and stays as it is: the report lies beside it, with .PID behind its name",
             facts->report, facts->report_kept);
    else if (facts->is_fifo)
        NOTE("report-fifo", "Start the reader first",
             "%s is a FIFO: the report is written if somebody reads from it", facts->report);
    if (facts->unknown_letter)
        NOTE("report-letter", "Take %p, %e, %h or %r",
             "%s means nothing in report_path and stays as it is", facts->unknown_letter);
}

/* Tells what is wrong with the file of suppressions, and which of its entries have expired. */
static void of_suppressions(struct sc_diagnosis *diagnosis, const struct sc_settings_facts *facts)
{
    for (const char *const *line = lines_of(facts->suppressions_mistakes); *line; line++)
        PROBLEM("bad-suppressions",
                "Mend the file, or its path in SAFECOPY_OPTIONS: until then this suppresses "
                "nothing, and with strict=1 the run fails",
                "suppressions: %s", *line);
    for (const char *const *line = lines_of(facts->suppressions_expired); *line; line++)
        NOTE("expired-suppression", "Give it another day, or take it out", "suppressions: %s",
             *line);
}

/* Does any entry of the preload name the library by a relative path? A name without a slash is
 * none: the loader looks for it in its folders. */
static bool has_relative(const char *preload)
{
    for (const char *at = preload; *at != '\0';) {
        size_t length = strcspn(at, " :");
        if (at[0] != '/' && memchr(at, '/', length) && memmem(at, length, "libsafecopy.so", 14))
            return true;
        at += length + (at[length] != '\0');
    }
    return false;
}

/* Adds findings that say what else the environment preloads. */
static void of_preload(struct sc_diagnosis *diagnosis, const struct sc_settings_facts *facts)
{
    bool is_preloaded = facts->preload && facts->preload[0] != '\0';
    bool is_injected = facts->injection && facts->injection[0] != '\0';
    if (is_preloaded && has_relative(facts->preload))
        NOTE("relative-preload", "Name its whole path, from / on",
             "LD_PRELOAD names the library by a relative path (%s): a program that has changed its "
             "folder starts others without it",
             facts->preload);
    else if (is_preloaded && strstr(facts->preload, "libsafecopy.so"))
        NOTE("preloaded", NULL, "LD_PRELOAD names the library already: %s", facts->preload);
    else if (is_preloaded)
        NOTE("other-preload", NULL,
             "LD_PRELOAD names %s: safecopy run puts the library before that", facts->preload);
    if (is_injected && !strstr(facts->injection, "libsafecopy.so"))
        NOTE("other-injection", NULL, "the driver loads a tool (CUDA_INJECTION64_PATH): %s",
             facts->injection);
    for (const char *const *line = lines_of(facts->relative); *line; line++)
        NOTE("relative-variable", "Name its whole path, from / on",
             "%s is relative: the library passes it over", *line);
}

/* Judges options, report's path, suppressions and what else is preloaded; says so if all is
 * well. */
void sc_diagnosis_of_settings(struct sc_diagnosis *diagnosis, const struct sc_settings_facts *facts)
{
    size_t before = diagnosis->count;
    of_options(diagnosis, facts);
    of_report(diagnosis, facts);
    of_suppressions(diagnosis, facts);
    of_preload(diagnosis, facts);
    if (diagnosis->count == before)
        sc_diagnosis_add(diagnosis, SC_LEVEL_OK, section, "settings", NULL,
                         "no setting is in the way");
}
