#include "report/command/run_unjudged.h"

#include "report/command/doctor/diagnosis.h"
#include "report/command/doctor/program_file.h"
#include "report/command/say.h"

/* Returns what keeps a preload out of the program, which did run, or NULL if nothing that its file
 * tells. */
static const struct sc_finding *find_hindrance(struct sc_run_work *work, const char *program)
{
    struct sc_program_facts facts;
    struct sc_diagnosis diagnosis = {.scratch = &work->scratch};
    sc_program_file_look(&facts, &work->scratch, program);
    sc_diagnosis_of_program(&diagnosis, &facts);
    if (facts.files[facts.count - 1].kind != SC_FILE_ELF)
        return NULL;
    for (size_t i = 0; i < diagnosis.count; i++)
        if (diagnosis.findings[i].level == SC_LEVEL_PROBLEM)
            return &diagnosis.findings[i];
    return NULL;
}

/* Prints why nothing was judged, as far as the program's file tells. */
void sc_run_unjudged_say(struct sc_run_work *work, const struct sc_run_roll *roll,
                         const char *program)
{
    if (work->parsed.mode == SC_MODE_OFF || sc_run_roll_says(roll, SC_ROLL_OFF))
        return; /* which is said of whoever was off */
    const struct sc_finding *found = work->is_injected ? NULL : find_hindrance(work, program);
    if (found)
        sc_say("strict: nothing was judged: %s: %s. %s", program, found->text, found->remedy);
    else
        sc_say("strict: nothing was judged: no use of CUDA was seen in %s and in what it started; "
               "if there is any, safecopy doctor PROGRAM says what hides it",
               program);
}

/* Prints in which processes the library was switched off. */
void sc_run_unjudged_say_off(struct sc_run_work *work, const struct sc_run_roll *roll)
{
    struct sc_run_note note, first = {0};
    unsigned count = 0;
    for (size_t at = 0; sc_run_roll_next(roll, &at, &note);)
        if (note.what == SC_ROLL_OFF && count++ == 0)
            first = note;
    if (count == 0 || work->parsed.mode == SC_MODE_OFF)
        return;
    sc_say("strict: nothing was judged in process %d (%s)%s: it looked for the CUDA driver with "
           "mode=off, which its "
           "SAFECOPY_OPTIONS had (pytest's --safecopy=off puts it there)",
           (int)first.pid, first.path,
           count == 1 ? "" : sc_scratch_print(&work->scratch, " and %u more", count - 1));
}
