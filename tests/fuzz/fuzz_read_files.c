/* Any bytes as a file that the command reads beside reports: a baseline, rules of frames, a map of
 * code made at run time, a change of paths. Each reader stays in bounds and ends, and what it says
 * of the file is nothing that a terminal would obey.
 */

#include "report/command/baseline.h"
#include "report/command/frame_rules.h"
#include "report/command/path_map.h"
#include "report/command/perf_map.h"
#include "report/command/say.h"
#include "tests/fuzz/terminal.h"

#include <fcntl.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The name that perf gives the map of this process. */
static const char *path_of_file(void)
{
    static char path[64];
    snprintf(path, sizeof path, "/tmp/perf-%d.map", (int)getpid());
    return path;
}

static void write_file(const uint8_t *data, size_t size)
{
    int fd = open(path_of_file(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size || close(fd) != 0)
        abort();
}

static void take_title(void *whom, const char *title)
{
    *(size_t *)whom += strlen(title);
}

/* With itself. */
static void compare(const struct sc_namings *namings)
{
    struct sc_scratch scratch = {0};
    size_t count = 0;
    struct sc_open_module *open = sc_namings_compare(namings, namings, &count);
    for (size_t i = 0; i < count; i++)
        sc_say("%s", sc_namings_open_words(&scratch, &open[i]));
    sc_scratch_free(&scratch);
    free(open);
}

static void read_baseline(const struct sc_frame_makers *makers)
{
    struct sc_baseline *baseline = sc_baseline_new();
    size_t length = 0;
    sc_baseline_add(baseline, path_of_file(), makers);
    struct sc_baseline_hazard *known =
        sc_baseline_find(baseline, "0123456789abcdef0123456789abcdef");
    if (known)
        sc_baseline_note_place(known, true);
    sc_baseline_each_fixed(baseline, take_title, &length);
    compare(sc_baseline_namings(baseline));
    sc_baseline_free(baseline);
}

static void read_rules(struct sc_frame_rules *rules)
{
    sc_frame_rules_read(rules, path_of_file());
    sc_frame_rules_of_frame(rules, "/usr/lib/libx.so", "/home/me/a.c", "step<int>(float)");
}

static void read_perf_map(size_t size)
{
    struct sc_perf_map *map = sc_perf_map_open(getpid());
    for (uint64_t address = 1; map && address != 0; address <<= 1) {
        const char *name = sc_perf_map_find(map, address);
        if (name && strlen(name) > size)
            abort();
    }
    sc_perf_map_close(map);
}

static void read_path_change(const uint8_t *data, size_t size)
{
    struct sc_path_map map = {0};
    struct sc_scratch scratch = {0};
    char *change = strndup((const char *)data, size);
    if (change && sc_path_map_add(&map, change))
        sc_path_map_change(&map, &scratch, "/home/me/a.c");
    sc_path_map_free(&map);
    sc_scratch_free(&scratch);
    free(change);
}

static void read_all(const uint8_t *data, size_t size)
{
    struct sc_frame_makers makers = {
        .symbols = sc_symbols_new(), .rules = sc_frame_rules_new(), .with_lines = true};
    write_file(data, size);
    read_baseline(&makers);
    read_rules(makers.rules);
    read_perf_map(size);
    read_path_change(data, size);
    unlink(path_of_file());
    sc_frame_rules_free(makers.rules);
    sc_symbols_free(makers.symbols);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    terminal_listen();
    read_all(data, size);
    terminal_judge();
    return 0;
}

#ifdef SC_FUZZ_STANDALONE
#define FUZZ_COUNT 4000
#include "tests/fuzz/standalone.h"

int main(int argc, char **argv)
{
    static const char *const seeds[] = {
        "",
        "{\"runs\":[{\"run\":{\"a\":\"}\\\"]\"}}],\"hazards\":[{\"fingerprint\":\"ab\","
        "\"fingerprint_version\":3,\"title\":\"SC101 \\u001b\",\"copy\":{\"stack\":[{}]}} , "
        "{\"fingerprint\":\"cd\"}]}\n",
        "{\"hazards\":[],\"builds\":[{\"module\":\"/a/\\u001b\",\"build_id\":\"ab\","
        "\"names\":true},{\"module\":\"/b/\\u001b\",\"build_id\":\"\\u202e\","
        "\"offsets\":true},{\"module\":\"c\",\"build_id\":null,\"offsets\":true}]}\n",
        "{\"hazards\":[]}",
        "{\"type\":\"run\",\"command\":[\"a\"],\"pid\":1}\n{\"type\":\"hazard\",\"code\":\"SC101\","
        "\"copy\":{\"api\":\"c\"},\"event\":{\"api\":\"e\"},\"count\":1}\n",
        "# rules\nuser path /home/*\nlibrary function *step*\r\nruntime path \t*.so*\n",
        "user path\n",
        "10 20 step\n7f0000001000 ff0 py::f:/home/me/a.py\n\xff\n0 ffffffffffffffff all\n",
        "/home/me=/srv",
        "=\x1b",
    };
    return fuzz_main(argc, argv, seeds, sizeof seeds / sizeof seeds[0]);
}
#endif
