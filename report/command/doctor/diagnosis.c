#define _GNU_SOURCE 1
#include "report/command/doctor/diagnosis.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Returns the place for one more finding. */
static struct sc_finding *make_room(struct sc_diagnosis *diagnosis)
{
    if (diagnosis->count == diagnosis->room) {
        size_t room = diagnosis->room > 0 ? 2 * diagnosis->room : 32;
        struct sc_finding *more =
            sc_scratch_take(diagnosis->scratch, room * sizeof *diagnosis->findings);
        if (diagnosis->count > 0)
            memcpy(more, diagnosis->findings, diagnosis->count * sizeof *more);
        diagnosis->findings = more;
        diagnosis->room = room;
    }
    return &diagnosis->findings[diagnosis->count++];
}

/* Adds a finding to the diagnosis: its level, the section it is shown in, an id for scripts, words
 * and a remedy (NULL: none). */
void sc_diagnosis_add(struct sc_diagnosis *diagnosis, enum sc_level level, const char *section,
                      const char *id, const char *remedy, const char *format, ...)
{
    char *text = NULL;
    va_list arguments;
    va_start(arguments, format);
    int length = vasprintf(&text, format, arguments);
    va_end(arguments);
    struct sc_finding *finding = make_room(diagnosis);
    *finding = (struct sc_finding){
        .level = level,
        .section = section,
        .id = id,
        .text = sc_scratch_print(diagnosis->scratch, "%s", length < 0 ? "out of memory" : text),
        .remedy = remedy};
    diagnosis->problem_count += level == SC_LEVEL_PROBLEM;
    if (length >= 0)
        free(text);
}
