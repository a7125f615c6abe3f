/* Any bytes as a report that grows while it is watched, as an answer of a collector and as a state:
 * all stay in bounds and end, nothing is shown that a terminal would obey, and what would be sent
 * is JSON.
 */
#define _GNU_SOURCE 1
#include "report/command/otlp.h"
#include "report/command/say.h"
#include "report/command/shown.h"
#include "report/command/watch/post.h"
#include "report/command/watch/screen.h"
#include "report/command/watch/watch_report.h"
#include "report/command/watch/watch_state.h"
#include "tests/fuzz/terminal.h"

#include <fcntl.h>
#include <stdint.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition)
{
    if (!condition)
        abort();
}

/* ---- files ---- */

static char folder[] = "/tmp/safecopy-fuzz-watch-XXXXXX", path[64], state[64];

static void clean_up(void)
{
    unlink(path);
    unlink(state);
    rmdir(folder);
}

static void begin(void)
{
    if (path[0] != '\0')
        return;
    require(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/r.jsonl", folder);
    snprintf(state, sizeof state, "%s/state", folder);
    atexit(clean_up);
}

static void write_file(const char *name, int flags, const uint8_t *data, size_t size)
{
    int fd = open(name, O_WRONLY | O_CREAT | O_CLOEXEC | flags, 0600);
    require(fd >= 0 && write(fd, data, size) == (ssize_t)size && close(fd) == 0);
}

/* ---- a report ---- */

struct reading {
    struct sc_watch_makers makers;
    struct sc_watch_report *report;
    struct sc_otlp_metrics metrics;
    json_t *records;
    size_t bytes;
};

static void take_hazard(struct reading *reading, json_t *record)
{
    struct sc_watched *shown = &reading->report->shown;
    const struct sc_shown *hazard = sc_watched_show(shown, &reading->makers, record);
    const struct sc_otlp_clock clock = sc_otlp_clock_own();
    free(shown->newest);
    shown->newest = strdup(sc_say_plain(hazard->title));
    reading->report->hazard_order++;
    json_array_append_new(reading->records,
                          sc_otlp_hazard(&clock, &reading->makers.scratch, hazard));
}

static void take_line(void *context, const char *line, size_t size)
{
    struct reading *reading = context;
    struct sc_watched *shown = &reading->report->shown;
    const struct sc_otlp_clock clock = sc_otlp_clock_own();
    json_t *record;
    reading->bytes += size + 1;
    enum sc_watch_news news = sc_watched_take(shown, &reading->makers, line, size, &record);
    require((news == SC_WATCH_BAD) == !record);
    if (news == SC_WATCH_HAZARD)
        take_hazard(reading, record);
    if (news == SC_WATCH_POSTMORTEM)
        require(sc_watched_loss(shown, &reading->makers, record));
    sc_otlp_put_memory(&reading->metrics, &clock, json_object_get(record, "memory"));
    json_decref(record);
    sc_watch_makers_forget(&reading->makers);
}

static void look(struct sc_follow *follow, struct reading *reading)
{
    sc_follow_look(follow);
    require(follow->count == 1);
    follow->first->report = reading->report;
    while (sc_follow_read(follow, follow->first, &reading->report->shown_to, 64, take_line,
                          reading) > 0)
        continue;
}

static void show(const struct sc_follow *follow)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    require(out);
    sc_screen_print(out, follow);
    require(fclose(out) == 0);
    terminal_take(text, size, "\n");
    free(text);
}

static void check_message(const char *member, json_t *element)
{
    char *text = sc_otlp_message(member, json_pack("[o]", element));
    require(text);
    json_t *read = json_loads(text, 0, NULL);
    require(read);
    for (const char *at = text; *at != '\0'; at++)
        require(*at >= ' ' && *at < 0x7f);
    json_decref(read);
    free(text);
}

static void end(struct sc_follow *follow, struct reading *reading)
{
    json_t *run = reading->report->shown.run;
    check_message("resourceLogs", sc_otlp_resource_logs(sc_otlp_resource(run), reading->records));
    check_message("resourceMetrics",
                  sc_otlp_resource_metrics(sc_otlp_resource(run), &reading->metrics));
    sc_watched_free(&reading->report->shown);
    sc_watch_makers_free(&reading->makers);
    sc_follow_free(follow);
}

/* It comes in two parts, the first of which may end anywhere. */
static void watch(const uint8_t *data, size_t size)
{
    char *const paths[] = {folder, NULL};
    struct sc_watch_report report = {0};
    struct reading reading = {.report = &report, .records = json_array()};
    struct sc_follow follow;
    write_file(path, O_TRUNC, data, size / 2);
    require(sc_watch_makers_begin(&reading.makers) && sc_follow_begin(&follow, paths));
    look(&follow, &reading);
    write_file(path, O_APPEND, data + size / 2, size - size / 2);
    look(&follow, &reading);
    require(report.shown_to.at <= size && reading.bytes <= size);
    show(&follow);
    end(&follow, &reading);
}

/* ---- the whole ---- */

static void ignore(const char *text)
{
    (void)text;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    begin();
    sc_say_to(ignore);
    watch(data, size);
    struct sc_post_answer answer = sc_post_read_answer((const char *)data, size);
    require(answer.retry_after_s >= -1);
    free(answer.words);
    write_file(state, O_TRUNC, data, size);
    json_t *known = sc_watch_state_read(state);
    const struct sc_digest first = sc_watch_state_digest((const char *)data, size);
    sc_watch_state_find(known, &first);
    json_decref(known);
    return 0;
}

#ifdef SC_FUZZ_STANDALONE
#if defined __SANITIZE_THREAD__ || defined __SANITIZE_ADDRESS__
#define FUZZ_COUNT 1000
#else
#define FUZZ_COUNT 3000
#endif
#include "tests/fuzz/standalone.h"

#define RUN                                                                                        \
    "{\"type\":\"run\",\"schema\":1,\"version\":\"0.1.0\",\"command\":[\"./train\",\"\\u001b\"],"  \
    "\"pid\":7,\"started\":3,\"host\":\"h\\u202e\",\"rank\":\"3\",\"driver_version\":13000,"       \
    "\"runtime_version\":null,\"devices\":[\"GPU\"],\"options\":{},\"modules\":[{\"path\":"        \
    "\"/nowhere/train\",\"base\":\"0x1\",\"build_id\":\"00ff\"}]}\n"
#define MODULES                                                                                    \
    "{\"type\":\"modules\",\"modules\":[{\"path\":\"/nowhere/late.so\",\"base\":\"0x2\","          \
    "\"build_id\":null}]}\n"
#define HAZARD                                                                                     \
    "{\"type\":\"hazard\",\"code\":\"SC101\",\"name\":\"source-freed-in-flight\","                 \
    "\"certainty\":\"observed\",\"action\":\"deferred\",\"buffer\":{\"address\":\"0x10\","         \
    "\"size\":64,\"kind\":\"pinned\"},\"copy\":{\"api\":\"cuMemcpyHtoDAsync_v2\","                 \
    "\"direction\":\"H2D\",\"address\":\"0x10\",\"size\":64,\"stream\":\"0x5\",\"device\":0,"      \
    "\"seq\":3,\"thread\":9,\"time_ns\":12,\"stack\":[{\"module\":\"/nowhere/train\","             \
    "\"offset\":\"0x12\",\"symbol\":\"_ZN5BatchD1Ev\"}]},\"event\":{\"api\":\"free\","             \
    "\"thread\":9,\"time_ns\":13,\"stack\":[{\"file\":\"a.py\",\"line\":3,\"function\":"           \
    "\"\\u007f\\n\"}]},\"count\":1}\n"
#define HELD                                                                                       \
    "\"memory\":{\"time_ns\":5,\"devices\":[{\"device\":0,\"uuid\":\"GPU-0\",\"bytes\":7,"         \
    "\"peak_bytes\":9223372036854775807,\"kinds\":{\"device\":{\"bytes\":9223372036854775807},"    \
    "\"\\u001b\":{\"bytes\":-3}},\"free_bytes\":-9223372036854775808,\"total_bytes\":5}],"         \
    "\"host\":{\"bytes\":1,\"kinds\":{\"pinned\":{\"bytes\":1}}}}"
#define MEMORY "{\"type\":\"memory\"," HELD "}\n"
#define POSTMORTEM                                                                                 \
    "{\"type\":\"postmortem\",\"error\":{\"code\":719,\"name\":\"\\u2028\"},\"call\":{\"api\":"    \
    "\"a\",\"time_ns\":9,\"stack\":0},\"hazards\":1,\"by_code\":{\"SC101\":1}}\n"
#define SUMMARY                                                                                    \
    "{\"type\":\"summary\",\"hazards\":9223372036854775807,\"observed\":9223372036854775807,"      \
    "\"latent\":0,\"suppressed\":0,\"by_code\":{\"SC101\":9223372036854775807},"                   \
    "\"operations\":7,\"exit_status\":66," HELD "}\n"

int main(int argc, char **argv)
{
    static const char *const seeds[] = {
        "",
        RUN,
        RUN HAZARD MODULES HAZARD MEMORY SUMMARY,
        RUN HAZARD POSTMORTEM SUMMARY RUN HAZARD SUMMARY,
        HAZARD MEMORY "no line\n\n{}\n[]\n\"\"\n{\"type\":7}\n{\"type\":\"hazard\"",
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 503 Busy\r\nRetry-After: 7\r\n\r\nbody\n503",
        "HTTP/2 200 \r\nretry-after: "
        "\xff\r\n\r\n{\"partialSuccess\":{\"rejectedLogRecords\":\"3\"}}"
        "\n200",
        "{\"safecopy_watch_state\":1,\"taken\":{\"00\":5}}",
    };
    return fuzz_main(argc, argv, seeds, sizeof seeds / sizeof seeds[0]);
}
#endif
