#include "report/command/run_unjudged.h"

#include "report/command/doctor/diagnosis.h"
#include "report/command/doctor/program_file.h"
#include "report/command/say.h"

/* What keeps a preload out of the program, which did run; NULL: nothing that its file tells. */
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

void sc_run_unjudged_say(struct sc_run_work *work, const char *program)
{
    const struct sc_finding *found = work->is_injected ? NULL : find_hindrance(work, program);
    if (found)
        sc_say("strict: nothing was judged: %s: %s. %s", program, found->text, found->remedy);
    else
        sc_say("strict: nothing was judged: no use of CUDA was seen in %s and in what it started; "
               "if there is any, safecopy doctor PROGRAM says what hides it",
               program);
}
