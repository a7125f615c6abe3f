/* Any bytes as a report: the reader and all formats stay in bounds and end, and show nothing that a
 * terminal would obey.
 */
#include <errno.h>

#include "report/command/formats/formats.h"
#include "report/command/model.h"
#include "tests/fuzz/terminal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void render(const struct sc_format *format, struct sc_model *model)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        abort();
    format->write(out, model);
    if (fclose(out) != 0)
        abort();
    if (strcmp(format->name, "markdown") == 0 && size > 60000)
        abort();
    if (!format->is_binary)
        terminal_take(text, size, "\n");
    free(text);
}

static void add(struct sc_reader *reader, const char *name, const uint8_t *data, size_t size)
{
    /* A stream of no bytes at all cannot be had. */
    FILE *stream = fmemopen((void *)(uintptr_t)(size > 0 ? data : (const uint8_t *)"\n"),
                            size > 0 ? size : 1, "r");
    if (!stream)
        abort();
    int result = sc_reader_add(reader, name, stream);
    if (result < 0 && result != -ENOTSUP) /* a later schema */
        abort();
    fclose(stream);
}

/* Runs as one. */
static void merge(const uint8_t *data, size_t size, struct sc_frame_makers makers)
{
    struct sc_reader reader = {.merges = true, .quiet = true, .brief = true};
    struct sc_model model;
    add(&reader, "one", data, size);
    add(&reader, "\033two\n\xff", data, size);
    sc_reader_end(&reader);
    if (!sc_model_init(&model, &reader, makers, NULL) || reader.run_count > 1)
        abort();
    sc_model_select(&model, NULL, NULL);
    render(sc_formats_find("json"), &model);
    sc_model_free(&model);
    sc_reader_free(&reader);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct sc_namings namings = {0};
    struct sc_frame_makers makers = {.symbols = sc_symbols_new(),
                                     .namings = &namings,
                                     .rules = sc_frame_rules_new(),
                                     .with_lines = true};
    struct sc_source_roots roots = {0};
    struct sc_excerpts *excerpts = sc_excerpts_new(&roots);
    struct sc_reader reader = {.symbols = makers.symbols, .quiet = true};
    struct sc_model model;
    /* Hazards are merged over runs too. */
    add(&reader, "one", data, size);
    add(&reader, "\033two\n\xff", data, size);
    if (!sc_model_init(&model, &reader, makers, excerpts))
        abort();
    sc_model_select(&model, NULL, NULL);
    for (unsigned i = 0; sc_formats_name(i); i++)
        render(sc_formats_find(sc_formats_name(i)), &model);
    sc_model_free(&model);
    sc_reader_free(&reader);
    merge(data, size, makers);
    sc_excerpts_free(excerpts);
    sc_frame_rules_free(makers.rules);
    sc_symbols_free(makers.symbols);
    sc_namings_free(&namings);
    return 0;
}

#ifdef SC_FUZZ_STANDALONE
#if defined __SANITIZE_THREAD__ || defined __SANITIZE_ADDRESS__ || defined SC_DEBUG
#define FUZZ_COUNT 4000
#endif
#include "tests/fuzz/standalone.h"

#define RUN                                                                                        \
    "{\"type\":\"run\",\"schema\":1,\"command\":[\"./train\"],\"pid\":7,\"host\":\"h\","           \
    "\"rank\":null,\"driver_version\":13000,\"runtime_version\":null,\"devices\":[\"GPU\"],"       \
    "\"options\":{\"mode\":\"fix\"},\"modules\":[{\"path\":\"/nowhere/train\",\"base\":\"0x1\","   \
    "\"build_id\":\"00ff\"}]}\n"
#define MODULES                                                                                    \
    "{\"type\":\"modules\",\"modules\":[{\"path\":\"/nowhere/late.so\",\"base\":\"0x2\","          \
    "\"build_id\":null},{\"path\":\"/nowhere/train\",\"build_id\":\"01\"}]}\n"
#define HAZARD                                                                                     \
    "{\"type\":\"hazard\",\"code\":\"SC101\",\"name\":\"source-freed-in-flight\","                 \
    "\"certainty\":\"observed\",\"action\":\"deferred\",\"buffer\":{\"address\":\"0x10\","         \
    "\"size\":64,\"kind\":\"pinned\"},\"copy\":{\"api\":\"cuMemcpyHtoDAsync_v2\","                 \
    "\"direction\":\"H2D\",\"address\":\"0x10\",\"size\":64,\"stream\":\"0x5\",\"device\":0,"      \
    "\"seq\":3,\"thread\":9,\"time_ns\":12,\"stack\":[{\"module\":\"/nowhere/train\","             \
    "\"offset\":\"0x12\",\"symbol\":\"_ZN5BatchD1Ev\"}]},\"event\":{\"api\":\"free\","             \
    "\"thread\":9,\"time_ns\":13,\"stack\":[{\"file\":\"a.py\",\"line\":3,\"function\":\"f\"}]},"  \
    "\"count\":1}\n"
/* A name that must live while many others are made. */
#define NASTY "{\"module\":\"\\u009b\",\"offset\":\"\\u202e\",\"symbol\":\"\\n\"},"
#define NASTIER NASTY NASTY NASTY NASTY NASTY NASTY NASTY NASTY
#define SPOILT                                                                                     \
    "{\"type\":\"hazard\",\"code\":\"\\u001b\",\"copy\":{\"api\":\"\\u2028\",\"stack\":[" NASTIER  \
    "{}]},\"event\":{\"api\":\"\\u2066\",\"stack\":[" NASTIER NASTIER "{}]},\"count\":1}\n"
#define RICH                                                                                       \
    "{\"type\":\"hazard\",\"code\":\"SC401\",\"name\":\"n\",\"certainty\":\"latent\","             \
    "\"action\":\"held\",\"label\":\"t::`|<\",\"suppressed\":{\"reason\":\"]]>\"},"                \
    "\"buffer\":{\"address\":\"0x10\",\"size\":1,\"kind\":\"stack\"},\"copy\":{\"api\":\"a\","     \
    "\"runtime_api\":\"::error::\",\"stream\":\"0x5\",\"seq\":3,\"time_ns\":9,\"stack\":["         \
    "{\"file\":\"tests/fuzz/standalone.h\",\"line\":3,\"function\":\"<script>\"},"                 \
    "{\"module\":\"/usr/lib/x.so\",\"offset\":\"0x9\",\"symbol\":\"_RNvCs1_1a1b\"}]},"             \
    "\"event\":{\"api\":\"b\",\"time_ns\":13,\"stack\":[{\"file\":\"/dev/zero\",\"line\":null,"    \
    "\"function\":\"f\"}]},\"freed\":{\"api\":\"free\",\"stack\":[]},\"found_later\":true,"        \
    "\"count\":2}\n"
#define TIMING                                                                                     \
    "{\"type\":\"timing\",\"code\":\"SC101\",\"stream\":\"0x5\",\"seq\":3,"                        \
    "\"correlation_id\":4,\"event_time_ns\":13,\"device_start_ns\":11,\"device_end_ns\":20,"       \
    "\"remaining_ns\":7}\n"
#define POSTMORTEM                                                                                 \
    "{\"type\":\"postmortem\",\"error\":{\"code\":719,\"name\":\"E\"},\"call\":{\"api\":\"a\","    \
    "\"time_ns\":9,\"stack\":0},\"hazards\":1,\"frees\":[{\"api\":\"f\",\"address\":\"0x1\","      \
    "\"size\":2,\"age_ns\":3,\"stack\":1}],\"streams\":[{\"stream\":\"0x5\",\"operations\":["      \
    "{\"api\":\"b\",\"direction\":\"H2D\",\"address\":\"0x1\",\"source\":\"0x2\",\"size\":4,"      \
    "\"in_flight\":true,\"age_ns\":5,\"stack\":9223372036854775807},7,{\"stack\":-1}]},[]],"       \
    "\"stacks\":[{\"stack\":[{\"file\":\"/dev/zero\",\"line\":3,\"function\":\"f\"}]},4]}\n"
#define SUMMARY                                                                                    \
    "{\"type\":\"summary\",\"hazards\":1,\"observed\":1,\"latent\":0,\"suppressed\":0,"            \
    "\"by_code\":{\"SC101\":1},\"operations\":7,\"held_peak_bytes\":64,\"held_peak_ns\":9,"        \
    "\"coverage\":{\"calls\":0,\"wrapped\":0,\"missed\":0},\"options_ignored\":[\"a=b\"],"         \
    "\"exit_status\":66}\n"

/* What is held, by numbers that no sum has room for. */
#define ACCOUNT                                                                                    \
    "{\"kind\":\"device\",\"device\":0,\"owner\":\"a;b "                                           \
    "<i>\",\"api\":\"cuMemAlloc\",\"label\":\"l\","                                                \
    "\"bytes\":9223372036854775807,\"blocks\":2,\"peak_bytes\":-4,\"peak_blocks\":1,"              \
    "\"ever_bytes\":7,\"ever_blocks\":7,\"stack\":[" NASTY                                         \
    "{\"file\":\"a.py\",\"line\":-3,\"function\":\"f;g\"},{\"offset\":\"0x9\"}]}"
#define CALL                                                                                       \
    "{\"bytes\":9,\"times\":3,\"since_ns\":-1,\"kind\":\"\\n\",\"api\":null,\"stack\":[{}]}"
#define HELD                                                                                       \
    "\"memory\":{\"time_ns\":5,\"devices\":[{\"device\":0,\"uuid\":\"GPU-0\",\"bytes\":7,"         \
    "\"blocks\":1,\"peak_bytes\":9223372036854775807,\"peak_ns\":4,\"kinds\":{\"device\":{"        \
    "\"bytes\":9223372036854775807,\"blocks\":3,\"peak_bytes\":9},\"\\u001b\":{\"bytes\":3}},"     \
    "\"pools\":[{\"pool\":\"0x1\"}],\"exports\":[7," CALL "],\"unaccounted\":{\"bytes\":1,"        \
    "\"steps\":[" CALL ",{},[]]},\"free_bytes\":9,\"total_bytes\":5}],\"host\":{\"bytes\":1,"      \
    "\"peak_bytes\":2,\"kinds\":{\"pinned\":{\"bytes\":1}},\"pools\":[]},\"owners\":[{"            \
    "\"owner\":\"\\n\",\"device\":0,\"bytes\":1}],\"accounts\":[" ACCOUNT "," ACCOUNT              \
    ",7,{},{\"device\":0}],\"children\":[7,{\"pid\":1,\"name\":\"\\u202e\"}],"                     \
    "\"accounts_left_out\":3,\"unknown_frees\":0,\"unrecorded\":0}"
#define LINE "{\"type\":\"memory\"," HELD "}\n"
#define ENDED                                                                                      \
    "{\"type\":\"summary\",\"hazards\":0,\"observed\":0,\"latent\":0,\"by_code\":{}," HELD "}\n"
#define FAILED                                                                                     \
    "{\"type\":\"oom\",\"api\":\"\\u2028\",\"verdict\":\"full\",\"count\":1,\"stack\":[{}]," HELD  \
    "}\n"

int main(int argc, char **argv)
{
    static const char *const seeds[] = {
        "",
        RUN,
        RUN HAZARD HAZARD SUMMARY,
        RUN HAZARD TIMING HAZARD TIMING SUMMARY,
        RUN HAZARD "{\"type\":\"hazard\",\"count\":9223372036854775807}\n" SUMMARY,
        HAZARD SUMMARY SUMMARY,
        SPOILT,
        RUN RICH TIMING SUMMARY,
        RUN HAZARD POSTMORTEM POSTMORTEM SUMMARY,
        MODULES RUN HAZARD MODULES SUMMARY,
        RUN HAZARD SUMMARY MODULES HAZARD SUMMARY RUN HAZARD RICH TIMING MODULES SUMMARY,
        RUN LINE FAILED LINE LINE ENDED RUN ENDED RUN ENDED,
        "{\"type\":\"run\",\"command\":[\"\\u001b[2J\\n0 places\",\"\\u009b\"],"
        "\"host\":\"\\u202e\\u2066\",\"pid\":1}\n"
        "{\"type\":\"coverage\",\"api\":\"\\u2028\",\"count\":1,\"stack\":[{\"module\":\"\\u200f\","
        "\"offset\":\"\\u007f\",\"symbol\":\"\\u061c\"}]}\n",
        "{}\n[]\nnull\n{\"type\":7}\n[[[[[[[[[[[[[[[[",
        "{\"type\":\"hazard\",\"code\":\"SC1\",\"copy\":{\"stack\":[1,{},[],{\"line\":\"x\"}]},"
        "\"event\":{\"stack\":{}},\"count\":9223372036854775807}\n",
    };
    return fuzz_main(argc, argv, seeds, sizeof seeds / sizeof seeds[0]);
}
#endif
