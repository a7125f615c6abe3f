/* Any bytes as a report: the reader and both renderings stay in bounds and end. */
// cflags: -Wl,--no-as-needed -ljansson -lelf

#include "report/command/reader.c"
#include "report/command/render.c"
#include "report/command/source_lines.c"
#include "report/command/symbols.c"

#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The renderings go where nobody reads them. */
static void render(const struct sc_reader *reader)
{
    static FILE *nowhere;
    FILE *before = stdout;
    struct sc_symbols *symbols = sc_symbols_new();
    if (nowhere == NULL)
        nowhere = fopen("/dev/null", "w");
    if (nowhere == NULL || symbols == NULL)
        abort();
    stdout = nowhere;
    sc_render_text(reader, symbols);
    sc_render_json(reader, symbols);
    stdout = before;
    sc_symbols_free(symbols);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct sc_reader reader;
    if (!sc_reader_init(&reader))
        abort();
    reader.quiet = true;
    /* Twice: hazards are merged over runs too. */
    sc_reader_add(&reader, "one", (const char *)data, size);
    sc_reader_add(&reader, "two", (const char *)data, size);
    render(&reader);
    sc_reader_free(&reader);
    return 0;
}

#ifdef SC_FUZZ_STANDALONE
#include "tests/fuzz/standalone.h"

#define RUN                                                                                        \
    "{\"type\":\"run\",\"schema\":1,\"command\":[\"./train\"],\"pid\":7,\"host\":\"h\","           \
    "\"rank\":null,\"driver_version\":13000,\"runtime_version\":null,\"devices\":[\"GPU\"],"       \
    "\"options\":{\"mode\":\"fix\"},\"modules\":[{\"path\":\"/nowhere/train\",\"base\":\"0x1\","   \
    "\"build_id\":\"00ff\"}]}\n"
#define HAZARD                                                                                     \
    "{\"type\":\"hazard\",\"code\":\"SC101\",\"name\":\"source-freed-in-flight\","                 \
    "\"certainty\":\"observed\",\"action\":\"deferred\",\"buffer\":{\"address\":\"0x10\","         \
    "\"size\":64,\"kind\":\"pinned\"},\"copy\":{\"api\":\"cuMemcpyHtoDAsync_v2\","                 \
    "\"direction\":\"H2D\",\"address\":\"0x10\",\"size\":64,\"stream\":\"0x5\",\"device\":0,"      \
    "\"seq\":3,\"thread\":9,\"time_ns\":12,\"stack\":[{\"module\":\"/nowhere/train\","             \
    "\"offset\":\"0x12\",\"symbol\":\"_ZN5BatchD1Ev\"}]},\"event\":{\"api\":\"free\","             \
    "\"thread\":9,\"time_ns\":13,\"stack\":[{\"file\":\"a.py\",\"line\":3,\"function\":\"f\"}]},"  \
    "\"count\":1}\n"
#define TIMING                                                                                     \
    "{\"type\":\"timing\",\"code\":\"SC101\",\"stream\":\"0x5\",\"seq\":3,"                        \
    "\"correlation_id\":4,\"event_time_ns\":13,\"device_start_ns\":11,\"device_end_ns\":20,"       \
    "\"remaining_ns\":7}\n"
#define SUMMARY                                                                                    \
    "{\"type\":\"summary\",\"hazards\":1,\"observed\":1,\"latent\":0,\"suppressed\":0,"            \
    "\"by_code\":{\"SC101\":1},\"operations\":7,\"held_peak_bytes\":64,\"held_peak_ns\":9,"        \
    "\"coverage\":{\"calls\":0,\"wrapped\":0,\"missed\":0},\"options_ignored\":[\"a=b\"],"         \
    "\"exit_status\":66}\n"

int main(int argc, char **argv)
{
    static const char *const seeds[] = {
        "",
        RUN,
        RUN HAZARD HAZARD SUMMARY,
        RUN HAZARD TIMING HAZARD TIMING SUMMARY,
        RUN HAZARD "{\"type\":\"hazard\",\"count\":9223372036854775807}\n" SUMMARY,
        HAZARD SUMMARY SUMMARY,
        "{}\n[]\nnull\n{\"type\":7}\n[[[[[[[[[[[[[[[[",
        "{\"type\":\"hazard\",\"code\":\"SC1\",\"copy\":{\"stack\":[1,{},[],{\"line\":\"x\"}]},"
        "\"event\":{\"stack\":{}},\"count\":9223372036854775807}\n",
    };
    return fuzz_main(argc, argv, seeds, sizeof(seeds) / sizeof(seeds[0]));
}
#endif
