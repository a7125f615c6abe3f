/* Any text of options: the parser stays in bounds, every bad entry gets one complaint of one line,
 * and what it made of the text reads back as itself.
 */
#include "report/options.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
    if (!holds)
        abort();
}

static void count_line(void *context, const char *line)
{
    require(!strchr(line, '\n') && strlen(line) > 0);
    ++*(unsigned *)context;
}

/* Parses the values of `options` again, one at a time, as entries. */
static void read_back(const struct sc_options *options)
{
    static struct sc_options again;
    static char entry[64 + SC_OPTIONS_PATH_SIZE], value[SC_OPTIONS_PATH_SIZE];
    const char *key;
    sc_options_defaults(&again);
    for (unsigned i = 0; (key = sc_options_get(options, i, value, sizeof value)) != NULL; i++) {
        strcpy(entry, key);
        strcat(strcat(entry, "="), value);
        require(sc_options_parse(&again, entry, NULL, NULL) == 0);
    }
    again.given = options->given;
    again.ignored_count = options->ignored_count;
    memcpy(again.ignored, options->ignored, sizeof again.ignored);
    require(again.max_held_bytes == options->max_held_bytes);
    require(again.stall_limit_ns == options->stall_limit_ns);
    require(again.mode == options->mode && again.exitcode == options->exitcode);
    require(strcmp(again.report_path, options->report_path) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct sc_options options;
    unsigned lines = 0;
    char *text = malloc(size + 1);
    require(text != NULL);
    memcpy(text, data, size);
    text[size] = '\0';
    sc_options_defaults(&options);
    unsigned bad = sc_options_parse(&options, text, count_line, &lines);
    require(bad == lines && bad == options.ignored_count);
    require(sc_options_find_choice(text, "mode") == options.mode);
    require(sc_options_find_choice(text, "verbosity") == options.verbosity);
    require(strnlen(options.ignored, sizeof options.ignored) < sizeof options.ignored);
    read_back(&options);
    free(text);
    return 0;
}

#ifdef SC_FUZZ_STANDALONE
#include "tests/fuzz/standalone.h"

int main(int argc, char **argv)
{
    static const char *const seeds[] = {
        "",
        "strict=1:mode=report",
        "mode=off:exitcode=3:certainty=observed:halt_on_error=1:stacks=site:verbosity=2:help=1",
        "report_path=/tmp/%e.%p.%h.%r.jsonl:max_held=1536M:stall_limit=250ms",
        "guard=off:snapshot_max=0:capture=report:python=0:cupti=require:timeline=1:pinned=driver",
        "postmortem=0:postmortem=1:postmortem=2",
        "device_heap=64M:device_heap=driver:suppressions=/etc/safecopy.supp:suppressions=",
        "max_held=18446744073709551615:max_held=17179869183G:stall_limit=18446744073s",
        "stirct=1:=:=1:strict:strict=:exitcode=256:exitcode=-1:max_held=1T:verbosity=9",
        "a_key_that_is_far_longer_than_any_of_the_keys_that_the_table_has_and_then_some=1",
    };
    return fuzz_main(argc, argv, seeds, sizeof seeds / sizeof seeds[0]);
}
#endif
