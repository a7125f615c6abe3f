#define _GNU_SOURCE 1
#include "report/command/doctor/asked.h"

#include "report/command/doctor/ask.h"
#include "report/command/doctor/captured.h"
#include "report/command/preload.h"

#include <jansson.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* To load a driver and to start eight GPUs takes seconds. */
enum { LIMIT_MS = 60000 };

/* ---- its environment ---- */

/* Returns whether the variable is left out of the child's environment: tools that load themselves
 * into it, and settings of the library, would change the answers. */
static bool is_left_out(const char *entry)
{
    static const char *const names[] = {
        "LD_PRELOAD=", "SAFECOPY_OPTIONS=", "CUDA_INJECTION64_PATH=",
        "LD_AUDIT=",   "LD_DEBUG=",         "ASAN_OPTIONS="};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strncmp(entry, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

/* Copies the environment without preloads, tools and settings of the library. There is room for
 * `more` entries and the NULL after them. */
static char **make_environment(struct sc_scratch *scratch, size_t more, size_t *count)
{
    size_t given = 0;
    while (environ[given])
        given++;
    char **environment = sc_scratch_take(scratch, (given + more + 1) * sizeof *environment);
    *count = 0;
    for (size_t i = 0; i < given; i++)
        if (!is_left_out(environ[i]))
            environment[(*count)++] = environ[i];
    return environment;
}

/* ---- its answers ---- */

/* Takes a text of the child's answer, if it has the key. */
static void take_text(const json_t *line, const char *key, struct sc_scratch *scratch,
                      const char **text)
{
    const char *found = json_string_value(json_object_get(line, key));
    if (found)
        *text = sc_scratch_print(scratch, "%s", found);
}

/* Stores the number that the answer has for the key, if it has one that is not negative and fits
 * into an int. */
static void take_number(const json_t *line, const char *key, int *number)
{
    const json_t *found = json_object_get(line, key);
    json_int_t value = json_integer_value(found);
    if (json_is_integer(found) && value >= 0 && value <= INT32_MAX)
        *number = (int)value;
}

/* Reads the facts from one line of the child's. */
static void take_answer(struct sc_asked_facts *facts, struct sc_scratch *scratch,
                        const json_t *line)
{
    facts->has_started = true;
    take_text(line, "begun", scratch, &facts->begun);
    take_text(line, "driver", scratch, &facts->driver);
    take_text(line, "refused", scratch, &facts->refused);
    take_text(line, "device", scratch, &facts->device);
    take_text(line, "unwind", scratch, &facts->unwind);
    take_text(line, "runtime-13", scratch, &facts->runtimes[0]);
    take_text(line, "runtime-12", scratch, &facts->runtimes[1]);
    take_text(line, "runtime-11", scratch, &facts->runtimes[2]);
    take_number(line, "version", &facts->driver_version);
    take_number(line, "init", &facts->init_error);
    take_number(line, "devices", &facts->device_count);
    take_text(line, "refused-call", scratch, &facts->refused_call);
    take_number(line, "error", &facts->call_error);
    take_number(line, "read-error", &facts->read_error);
    int state = SC_USERFAULTFD_STATE_COUNT;
    take_number(line, "userfaultfd", &state);
    if (state < SC_USERFAULTFD_STATE_COUNT)
        facts->userfaultfd = (enum sc_userfaultfd_state)state;
    if (json_is_true(json_object_get(line, "loaded")))
        facts->has_library = true;
    if (json_is_true(json_object_get(line, "stub")))
        facts->is_stub = true;
    if (json_is_true(json_object_get(line, "ended")))
        facts->has_ended = true;
}

/* Reads all answers from the child's output. What libraries print between them is no JSON, and is
 * skipped. */
static void take_answers(struct sc_asked_facts *facts, struct sc_scratch *scratch,
                         const char *output)
{
    for (size_t length; *output; output += length + (output[length] == '\n')) {
        length = strcspn(output, "\n");
        json_t *line = json_loadb(output, length, 0, NULL);
        if (json_is_object(line))
            take_answer(facts, scratch, line);
        json_decref(line);
    }
}

/* Runs this command once more as a child that asks, and takes its answers, also those that came
 * before a crash. */
static void ask(struct sc_asked_facts *facts, struct sc_scratch *scratch, const char *library,
                char *const *environment)
{
    struct sc_captured captured;
    char *path = sc_scratch_print(scratch, "%s", library ? library : "");
    char name[] = "safecopy", command[] = "doctor", flag[] = SC_ASK_FLAG;
    char *const argv[] = {name, command, flag, path, NULL};
    *facts = (struct sc_asked_facts){
        .driver_version = SC_NOT_KNOWN, .init_error = SC_NOT_KNOWN, .device_count = SC_NOT_KNOWN};
    sc_captured_run(&captured, scratch, sc_preload_command(scratch), argv, environment, LIMIT_MS);
    take_answers(facts, scratch, captured.output);
    facts->said = captured.errors;
    facts->is_late = captured.is_late;
    if (captured.wait_status != -1 && WIFSIGNALED(captured.wait_status))
        facts->signal = WTERMSIG(captured.wait_status);
}

/* Asks a child without the library in it, and in the environment as it is. */
void sc_asked_plainly(struct sc_asked_facts *facts, struct sc_scratch *scratch, const char *library)
{
    size_t count;
    ask(facts, scratch, library, make_environment(scratch, 0, &count));
}

/* Asks in a child that has the library preloaded. With cupti=require the library reports how
 * loading CUPTI went. */
void sc_asked_preloaded(struct sc_asked_facts *facts, struct sc_scratch *scratch,
                        const char *library, const char *report_path)
{
    size_t count;
    char **environment = make_environment(scratch, 3, &count);
    environment[count++] = sc_scratch_print(scratch, "LD_PRELOAD=%s", library);
    environment[count++] =
        sc_scratch_print(scratch, "SAFECOPY_OPTIONS=cupti=require:report_path=%s", report_path);
    environment[count++] = sc_scratch_print(scratch, "ASAN_OPTIONS=verify_asan_link_order=0");
    ask(facts, scratch, library, environment);
}
