/* The report: what is written when, what equal hazards cost, and what happens when it cannot be
 * written. Each test runs in a process of its own (Check forks), in a directory of its own. The
 * lines themselves are held against report/schema.json by test_report_schema.py.
 */
#include "common/hazard.h"
#include "common/hazard_words.h"
#include "common/python_lines.h"
#include "common/text.h"
#include "report/annotations.h"
#include "report/json.h"
#include "report/json_lines.h"
#include "report/modules.h"
#include "report/options.h"
#include "report/path.h"
#include "report/postmortem_line.h"
#include "report/report.h"
#include "report/version.h"
#include "track/no_verdicts.h"
#include "track/origins.h"
#include "track/python_codes.h"
#include "track/stacks.h"

#include <check.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/emulator.h"

static struct sc_options options;
static char directory[] = "/tmp/safecopy-test-XXXXXX";
static char contents[2 << 20];
static char program[4096]; /* this one; what /proc/self/exe is under valgrind is valgrind */

static void set_up(void)
{
    ck_assert_int_gt(readlink("/proc/self/exe", program, sizeof program - 1), 0);
    ck_assert_ptr_nonnull(mkdtemp(directory));
    ck_assert_int_eq(chdir(directory), 0);
    ck_assert_ptr_nonnull(freopen("stderr.txt", "w+", stderr));
    sc_options_defaults(&options);
    strcpy(options.report_path, "r.jsonl");
}

static void tear_down(void)
{
    char command[64];
    snprintf(command, sizeof command, "rm -rf %s", directory);
    ck_assert_int_eq(system(command), 0);
}

static int open_report(void)
{
    static const char *const devices[] = {"GPU \"0\"", "GPU 1"};
    struct sc_report_run run = {.driver_version = 13000,
                                .runtime_version = 12080,
                                .device_count = 2,
                                .device_names = devices};
    return sc_report_open(&options, &run);
}

static const char *read_whole(const char *path)
{
    int fd = open(path, O_RDONLY);
    ssize_t size = fd >= 0 ? read(fd, contents, sizeof contents - 1) : 0;
    contents[size > 0 ? size : 0] = '\0';
    close(fd);
    return contents;
}

static unsigned count_of(const char *text, const char *words)
{
    unsigned count = 0;
    for (; (text = strstr(text, words)) != NULL; text += strlen(words))
        count++;
    return count;
}

static void ck_has(const char *path, const char *words)
{
    ck_assert_msg(strstr(read_whole(path), words) != NULL, "%s lacks %s: %s", path, words,
                  contents);
}

static struct sc_hazard a_hazard(void)
{
    return (struct sc_hazard){
        .code = SC101,
        .certainty = SC_LATENT,
        .action = SC_ACTION_DEFERRED,
        .buffer_address = 0x7f0000001000,
        .buffer_size_bytes = 4 << 20,
        .buffer_kind = SC_REGISTERED,
        .copy = {.api = "cuMemcpyHtoDAsync_v2", .direction = SC_H2D, .size_bytes = 4 << 20},
        .event = {.api = "free"},
    };
}

static void finish(int exit_status, bool final)
{
    sc_report_summary(
        &(struct sc_report_totals){.operations = 7, .exit_status = exit_status, .final = final});
}

/* Another thread may unmap the module that holds a name while it is being written. */
START_TEST(a_name_that_is_gone_is_left_out)
{
    static struct sc_json_lines_stacks stacks;
    static char bytes[64 * 1024];
    struct sc_path_names names = {.pid = 1};
    struct sc_hazard hazard = a_hazard();
    struct sc_text line;
    size_t page = (size_t)getpagesize();
    char *pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(pages, MAP_FAILED);
    memcpy(pages + page - 5, "last", 5);
    ck_assert_int_eq(munmap(pages + page, page), 0);
    stacks.copy.count = 3;
    stacks.copy.frames[0].symbol = pages + page - 5;
    stacks.copy.frames[1].symbol = pages + page;
    stacks.copy.frames[2].symbol = pages + page - 2;
    pages[page - 1] = 'x';
    stacks.event.count = 1;
    stacks.event.frames[0].symbol = pages + page - 5;
    line = sc_text_in(bytes, sizeof bytes);
    sc_json_lines_hazard(&line, &hazard, 1, &stacks, &names);
    ck_assert_uint_eq(count_of(bytes, "\"symbol\":null"), 4);
    pages[page - 1] = '\0';
    line = sc_text_in(bytes, sizeof bytes);
    sc_json_lines_hazard(&line, &hazard, 1, &stacks, &names);
    ck_assert_uint_eq(count_of(bytes, "\"symbol\":\"last\""), 2);
    ck_assert_uint_eq(count_of(bytes, "\"symbol\":null"), 1);
    ck_assert_int_eq(munmap(pages, page), 0);
}
END_TEST

START_TEST(a_run_without_hazards_is_a_run_and_a_summary)
{
    ck_assert_int_eq(open_report(), 0);
    finish(0, true);
    read_whole("r.jsonl");
    ck_assert_uint_eq(count_of(contents, "\n"), 2);
    ck_assert_ptr_eq(strstr(contents, SC_REPORT_BEGINNING "1,"), contents);
    ck_has("r.jsonl", "\"devices\":[\"GPU \\\"0\\\"\",\"GPU 1\"]");
    ck_has("r.jsonl", "\"driver_version\":13000,\"runtime_version\":12080");
    ck_has("r.jsonl", "\n{\"type\":\"summary\",\"hazards\":0,");
    ck_has("r.jsonl", "\"operations\":7,");
    ck_assert_str_eq(read_whole("stderr.txt"), "");
}
END_TEST

/* Threads that nobody named have the name of the process. */
START_TEST(names_of_threads_and_origins_are_told)
{
    struct sc_hazard hazard = a_hazard();
    open_report();
    ck_assert_int_eq(prctl(PR_GET_NAME, hazard.event.thread_name), 0);
    hazard.copy.thread = getpid();
    sc_report_hazard(&hazard);
    ck_assert_uint_eq(count_of(read_whole("r.jsonl"), "thread_name"), 0);
    ck_assert_uint_eq(count_of(read_whole("r.jsonl"), "origin"), 0);
    memcpy(hazard.event.thread_name, "loader", sizeof "loader");
    hazard.buffer_origin = sc_origins_put("cuMemHostRegister_v2", 0, 0);
    hazard.copy.stream_origin = sc_origins_put("cuStreamCreate", 0, 0);
    sc_report_hazard(&hazard);
    ck_has("r.jsonl", "\"thread_name\":\"loader\"");
    ck_has("r.jsonl", "\"origin\":{\"api\":\"cuMemHostRegister_v2\",\"stack\":[]}");
    ck_has("r.jsonl", "\"stream_origin\":{\"api\":\"cuStreamCreate\",\"stack\":[]}");
}
END_TEST

START_TEST(opening_twice_is_opening_once)
{
    ck_assert_int_eq(open_report(), 0);
    ck_assert_int_eq(open_report(), 0);
    ck_assert_uint_eq(count_of(read_whole("r.jsonl"), "\n"), 1);
}
END_TEST

START_TEST(verbosity_two_always_summarises)
{
    options.verbosity = 2;
    open_report();
    finish(0, true);
    ck_has("stderr.txt", "safecopy: no hazards in 7 operations\n");
}
END_TEST

START_TEST(verbosity_zero_is_silent)
{
    struct sc_hazard hazard = a_hazard();
    options.verbosity = 0;
    open_report();
    sc_report_hazard(&hazard);
    finish(0, true);
    ck_assert_str_eq(read_whole("stderr.txt"), "");
}
END_TEST

START_TEST(equal_hazards_are_a_line_each_time_the_count_doubles)
{
    struct sc_hazard hazard = a_hazard();
    unsigned written = 0;
    open_report();
    for (int i = 0; i < 1000; i++)
        written += sc_report_hazard(&hazard);
    ck_assert_uint_eq(written, 10);
    ck_assert_uint_eq(count_of(read_whole("r.jsonl"), "\"type\":\"hazard\""), 10);
    ck_has("r.jsonl", "\"count\":512}\n");
    finish(0, true);
    ck_has("r.jsonl", "\"by_code\":{\"SC101\":1000}");
}
END_TEST

START_TEST(the_first_observed_of_latent_ones_is_told)
{
    struct sc_hazard hazard = a_hazard();
    open_report();
    for (int i = 0; i < 4; i++)
        sc_report_hazard(&hazard);
    hazard.certainty = SC_OBSERVED;
    ck_assert(sc_report_hazard(&hazard));
    ck_assert(!sc_report_hazard(&hazard));
    ck_has("r.jsonl", "\"certainty\":\"observed\"");
    ck_has("r.jsonl", "\"count\":5}\n");
}
END_TEST

START_TEST(equal_hazards_under_another_label_are_a_line)
{
    struct sc_hazard hazard = a_hazard();
    unsigned written = 0;
    open_report();
    for (unsigned test = 0; test < 3; test++) {
        strcpy(hazard.label, test == 0 ? "first" : test == 1 ? "second" : "");
        for (unsigned i = 0; i < 100; i++)
            written += sc_report_hazard(&hazard);
    }
    ck_assert_uint_eq(written, 9 + 2);
    ck_has("r.jsonl", "\"label\":\"second\",\"count\":101}\n");
    ck_has("r.jsonl", "\"count\":201}\n");
    for (unsigned i = 0; i < 4000; i++) {
        strcpy(hazard.label, i % 2 ? "a" : "b");
        written += sc_report_hazard(&hazard);
    }
    ck_assert_uint_lt(written, 9 + 2 + 1000 + 8);
    finish(0, true);
    ck_has("stderr.txt", "    first in first\n");
}
END_TEST

START_TEST(an_ignored_hazard_is_counted_with_its_reason)
{
    struct sc_hazard hazard = a_hazard();
    open_report();
    sc_annotations_label("the test");
    sc_annotations_ignore_begin("known \"bug\"");
    sc_annotations_ignore_begin("within");
    sc_annotations_ignore_end();
    sc_annotations_note(&hazard);
    sc_annotations_ignore_end();
    ck_assert_str_eq(hazard.label, "the test");
    ck_assert(sc_report_suppresses(&hazard));
    sc_annotations_label_thread("the step");
    sc_annotations_note(&hazard);
    ck_assert_str_eq(hazard.label, "the step");
    ck_assert(!sc_report_suppresses(&hazard));
    finish(0, true);
    ck_has("r.jsonl", "\"suppressed\":1,\"suppressed_by\":[{\"name\":null,"
                      "\"reason\":\"known \\\"bug\\\"\",\"count\":1}]");
}
END_TEST

START_TEST(more_reasons_than_are_told_apart_are_counted_together)
{
    struct sc_hazard hazard = a_hazard();
    for (unsigned i = 0; i < 2 * SC_REASONS_MAX; i++) {
        char reason[] = {'r', (char)('0' + i / 100), (char)('0' + i / 10 % 10),
                         (char)('0' + i % 10), '\0'};
        sc_annotations_ignore_begin(reason);
        sc_annotations_note(&hazard);
        sc_annotations_ignore_end();
        ck_assert(sc_report_suppresses(&hazard));
    }
    open_report();
    finish(0, true);
    ck_has("r.jsonl", "\"reason\":\"r061\",\"count\":1},"
                      "{\"name\":null,\"reason\":\"further reasons\",\"count\":66}]");
}
END_TEST

START_TEST(code_stacks_and_without_stacks_names_tell_hazards_apart)
{
    struct sc_hazard hazard = a_hazard();
    open_report();
    ck_assert(sc_report_hazard(&hazard));
    hazard.event.api = "cudaFreeHost";
    ck_assert(sc_report_hazard(&hazard));
    hazard.code = SC102;
    ck_assert(sc_report_hazard(&hazard));
    void *frames[] = {(void *)(uintptr_t)0x1000, (void *)(uintptr_t)0x2000};
    hazard.copy.stack = sc_stacks_put(frames, 1);
    ck_assert(sc_report_hazard(&hazard));
    hazard.event.stack = sc_stacks_put(frames, 2);
    ck_assert(sc_report_hazard(&hazard));
    ck_assert(sc_report_hazard(&hazard)); /* the second of these */
    hazard.event.api = "free";            /* names do not matter where there are stacks */
    ck_assert(!sc_report_hazard(&hazard));
}
END_TEST

START_TEST(more_places_than_the_table_holds_are_still_counted)
{
    struct sc_hazard hazard = a_hazard();
    struct sc_report_counts counts;
    open_report();
    for (uintptr_t i = 1; i <= 5000; i++) {
        void *frame = (void *)i; // NOLINT
        hazard.copy.stack = sc_stacks_put(&frame, 1);
        sc_report_hazard(&hazard);
    }
    sc_report_counts(&counts);
    ck_assert_uint_eq(counts.hazards, 5000);
    finish(0, true);
    ck_assert_int_eq(system("test $(wc -l < r.jsonl) -lt 5000"), 0);
    ck_has("r.jsonl", "\"hazards\":5000,");
}
END_TEST

__attribute__((noinline)) static void put_own_stack(uint32_t *id)
{
    void *frames[] = {__builtin_return_address(0), (void *)(uintptr_t)0x10};
    *id = sc_stacks_put(frames, 2);
}

START_TEST(frames_name_module_and_offset)
{
    char own[512], words[600];
    struct sc_hazard hazard = a_hazard();
    put_own_stack(&hazard.copy.stack);
    open_report();
    sc_report_hazard(&hazard);
    own[readlink("/proc/self/exe", own, sizeof own - 1)] = '\0';
    snprintf(words, sizeof words, "\"stack\":[{\"module\":\"%.500s\",\"offset\":\"0x", own);
    ck_has("r.jsonl", words);
    ck_has("r.jsonl", "{\"module\":null,\"offset\":\"0x10\",\"symbol\":null}]");
    ck_has("r.jsonl", "\"event\":{\"api\":\"free\",\"thread\":0,\"time_ns\":0,\"stack\":[]}");
}
END_TEST

/* The word of a frame in the line after the code's first, or in none. */
static void *put_python_frame(const char *file, const char *function, bool has_line)
{
    static const uint8_t table[] = {0x80 | 13 << 3, 2};
    uint32_t id;
    struct sc_python_code *code =
        sc_python_codes_reserve(strlen(file) + strlen(function) + sizeof table, &id);
    ck_assert_ptr_nonnull(code);
    code->identity = (struct sc_python_identity){.code = id, .first_line = 7};
    code->file_bytes = (uint32_t)strlen(file);
    code->function_bytes = (uint32_t)strlen(function);
    code->table_bytes = has_line ? sizeof table : 0;
    code->format = SC_PYTHON_LOCATIONS;
    memcpy(code->bytes, file, strlen(file));
    memcpy(code->bytes + strlen(file), function, strlen(function));
    memcpy(code->bytes + strlen(file) + strlen(function), table, sizeof table);
    return sc_python_codes_word(sc_python_codes_publish(id), 0);
}

/* With their build ids, which a report that is read elsewhere needs. */
START_TEST(what_is_loaded_later_is_listed_once)
{
    struct sc_hazard hazard = a_hazard();
    ck_assert_int_eq(open_report(), 0);
    sc_report_hazard(&hazard);
    sc_report_modules();
    ck_assert_uint_eq(count_of(read_whole("r.jsonl"), "\"type\":\"modules\""), 0);
    void *library = dlopen("libnss_compat.so.2", RTLD_NOW);
    ck_assert_ptr_nonnull(library);
    sc_report_hazard(&hazard);
    sc_report_modules();
    const char *line = strstr(read_whole("r.jsonl"), "{\"type\":\"modules\",");
    ck_assert_ptr_nonnull(line);
    ck_assert_uint_eq(count_of(line, "libnss_compat.so.2\""), 1);
    ck_assert_ptr_nonnull(strstr(line, "\"build_id\":\""));
    ck_assert_uint_eq(count_of(line, "libc.so.6\""), 0);
    ck_assert_int_eq(dlclose(library), 0);
    ck_assert_ptr_nonnull(dlopen("libnss_compat.so.2", RTLD_NOW));
    hazard.code = SC102;
    sc_report_hazard(&hazard);
    sc_report_modules();
    ck_assert_uint_eq(count_of(read_whole("r.jsonl"), "libnss_compat.so.2\""), 1);
    ck_assert_uint_eq(count_of(contents, "\"type\":\"hazard\""), 3);
}
END_TEST

static int take_none(const struct sc_module *module, void *visits)
{
    (void)module;
    ++*(unsigned *)visits;
    return 0;
}

static int take(const struct sc_module *module, void *visits)
{
    (void)module;
    ++*(unsigned *)visits;
    return 1;
}

START_TEST(modules_that_were_not_taken_come_again)
{
    unsigned refused = 0, taken = 0, again = 0;
    sc_modules_each_new(take_none, &refused);
    ck_assert_uint_eq(refused, 1);
    ck_assert(sc_modules_have_come());
    sc_modules_each_new(take, &taken);
    ck_assert_uint_gt(taken, 2);
    ck_assert(!sc_modules_have_come());
    sc_modules_each_new(take, &again);
    ck_assert_uint_eq(again, 0);
    sc_modules_forget();
    sc_modules_each_new(take, &again);
    ck_assert_uint_eq(again, taken);
}
END_TEST

START_TEST(python_frames_have_file_line_and_function)
{
    struct sc_hazard hazard = a_hazard();
    void *frames[] = {(void *)(uintptr_t)0x10, put_python_frame("a \"b\".py", "Batch.load", true),
                      put_python_frame("<made>", "<lambda>", false)};
    hazard.copy.stack = sc_stacks_put(frames, 3);
    hazard.event.stack = sc_stacks_put(frames + 2, 1);
    open_report();
    sc_report_hazard(&hazard);
    finish(0, true);
    ck_has("r.jsonl", "{\"file\":\"a \\\"b\\\".py\",\"line\":8,\"function\":\"Batch.load\"},"
                      "{\"file\":\"<made>\",\"line\":null,\"function\":\"<lambda>\"}]");
    ck_has("stderr.txt", "issued at Batch.load (a \"b\".py:8)\n");
    ck_has("stderr.txt", "free at <lambda> (<made>)\n");
}
END_TEST

START_TEST(the_summary_says_what_where_and_what_was_done)
{
    struct sc_hazard hazard = a_hazard();
    put_own_stack(&hazard.event.stack);
    options.strict = true;
    open_report();
    sc_report_hazard(&hazard);
    sc_report_hazard(&hazard);
    hazard.code = SC204;
    hazard.certainty = SC_OBSERVED;
    sc_report_hazard(&hazard);
    finish(66, true);
    read_whole("stderr.txt");
    ck_assert_ptr_eq(strstr(contents, "safecopy: 3 hazards at 2 places (1 observed, 2 latent)\n"),
                     contents);
    ck_assert(strstr(contents, "SC204 unordered-operations, observed, 1 time\n") <
              strstr(contents, "SC101 source-freed-in-flight, latent, 2 times\n"));
    ck_has("stderr.txt", "    free at the_summary_says_what_where_and_what_was_done"); /* static */
    ck_has("stderr.txt", "cuMemcpyHtoDAsync_v2 to read 4 MB of registered memory");
    ck_has("stderr.txt", "healed: the memory was kept until the copy was complete\n");
    ck_has("stderr.txt", "/r.jsonl\n");
    ck_has("stderr.txt", "strict: failed, this process ends with 66\n");
}
END_TEST

/* Functions with C++ names, whose return addresses the summary is to make readable. */
#define NAMED(label, mangled)                                                                      \
    __attribute__((noinline)) static void label(uint32_t *id) __asm__(mangled);                    \
    static void label(uint32_t *id)                                                                \
    {                                                                                              \
        put_own_stack(id);                                                                         \
        __asm__ volatile("" ::: "memory");                                                         \
    }
NAMED(destructor, "_ZN3app5BatchD1Ev")
NAMED(member, "_ZNK3app5Batch4sizeEv")
NAMED(function, "_Z4stepP5Batch")
NAMED(templated, "_ZN3app3BoxIiE4freeEv")

static const struct {
    void (*call)(uint32_t *id);
    const char *words;
} cplusplus[] = {
    {destructor, "free at app::Batch::~Batch (/"},
    {member, "free at app::Batch::size (/"},
    {function, "free at step (/"},
    {templated, "free at _ZN3app3BoxIiE4freeEv (/"},
};

START_TEST(the_summary_makes_plain_cplusplus_names_readable)
{
    struct sc_hazard hazard = a_hazard();
    cplusplus[_i].call(&hazard.event.stack);
    open_report();
    sc_report_hazard(&hazard);
    finish(0, true);
    ck_has("stderr.txt", cplusplus[_i].words);
}
END_TEST

static struct sc_report_miss a_miss(const char *api, uint32_t stack)
{
    return (struct sc_report_miss){.api = api, .thread = 7, .time_ns = 1, .stack = stack};
}

START_TEST(equal_misses_are_a_line_each_time_the_count_doubles)
{
    struct sc_report_miss copy = a_miss("cuMemcpyHtoDAsync_v2", 0), other = a_miss("cuMemFree", 0);
    other.runtime_api = "cudaFree";
    open_report();
    for (int i = 0; i < 9; i++)
        sc_report_missed(&copy);
    ck_assert(sc_report_missed(&other));
    read_whole("r.jsonl");
    ck_assert_uint_eq(count_of(contents, "\"type\":\"coverage\""), 5);
    ck_assert_uint_eq(count_of(contents, "\"api\":\"cuMemcpyHtoDAsync_v2\",\"runtime_api\":null"),
                      4);
    ck_has("r.jsonl", "\"count\":8}\n");
    ck_has("r.jsonl", "\"api\":\"cuMemFree\",\"runtime_api\":\"cudaFree\"");
    ck_assert_int_eq(sc_report_exit_status(0), 0);
}
END_TEST

START_TEST(more_misses_than_the_table_holds_write_nothing)
{
    static char names[400][8];
    open_report();
    for (unsigned i = 0; i < 400; i++) {
        snprintf(names[i], sizeof names[i], "cu%u", i);
        struct sc_report_miss miss = a_miss(names[i], 0);
        sc_report_missed(&miss);
    }
    ck_assert_uint_eq(count_of(read_whole("r.jsonl"), "\"type\":\"coverage\""), 256);
}
END_TEST

START_TEST(the_summary_tells_of_misses_and_of_cupti)
{
    struct sc_report_totals totals = {
        .coverage = {10, 7, 3},
        .cupti = {"yielded", 130001, "/lib/libcupti.so.13", "a tool"},
        .final = true,
    };
    open_report();
    sc_report_summary(&totals);
    ck_has("stderr.txt", "  3 of 10 calls passed the library by and were only followed\n");
    ck_assert_ptr_null(strstr(read_whole("stderr.txt"), "CUPTI"));
    ck_has("r.jsonl", "\"coverage\":{\"calls\":10,\"wrapped\":7,\"missed\":3},\"cupti\":{\"state\":"
                      "\"yielded\",\"version\":130001,\"library\":\"/lib/libcupti.so.13\","
                      "\"detail\":\"a tool\"}");
}
END_TEST

START_TEST(a_hazard_is_timed_when_its_copy_is_known)
{
    struct sc_hazard hazard = a_hazard(), other = a_hazard();
    hazard.copy.stream = 0x10;
    hazard.copy.seq = 9;
    hazard.copy.correlation_id = 77;
    hazard.event.time_ns = 5000000;
    other.code = SC102;
    open_report();
    sc_report_hazard(&hazard);
    sc_report_timing(&hazard, &(struct sc_report_timing){4000000, 6300000});
    ck_has("r.jsonl", "\n{\"type\":\"timing\",\"code\":\"SC101\",\"stream\":\"0x10\",\"seq\":9,"
                      "\"correlation_id\":77,\"event_time_ns\":5000000,\"device_start_ns\":4000000,"
                      "\"device_end_ns\":6300000,\"remaining_ns\":1300000}\n");
    sc_report_hazard(&other);
    finish(0, true);
    ck_has("stderr.txt", "\n    the copy had 1.3 ms left to run\n");
    ck_assert_uint_eq(count_of(read_whole("stderr.txt"), "the copy had "), 1);
}
END_TEST

START_TEST(of_equal_hazards_the_one_that_had_most_left_counts)
{
    struct sc_hazard hazard = a_hazard();
    open_report();
    for (int i = 0; i < 3; i++)
        sc_report_hazard(&hazard);
    hazard.event.time_ns = 10000;
    sc_report_timing(&hazard, &(struct sc_report_timing){1, 8000});
    sc_report_timing(&hazard, &(struct sc_report_timing){1, 17250});
    sc_report_timing(&hazard, &(struct sc_report_timing){1, 9000});
    finish(0, true);
    ck_has("r.jsonl", "\"remaining_ns\":-2000}\n");
    ck_has("stderr.txt", "\n    the copy had up to 7.2 us left to run\n");
}
END_TEST

START_TEST(a_copy_that_was_over_is_told_so)
{
    struct sc_hazard hazard = a_hazard();
    open_report();
    sc_report_hazard(&hazard);
    hazard.event.time_ns = UINT64_C(5000000000);
    sc_report_timing(&hazard, &(struct sc_report_timing){1, 2900000000});
    finish(0, true);
    ck_has("stderr.txt", "\n    the copy had been over for 2.1 s\n");
}
END_TEST

/* One sentence for all that no verdict was given on, in the first line and in the last one. */
START_TEST(what_is_not_judged_is_said_and_counted_by_reason)
{
    struct sc_no_verdicts counts = {0};
    struct sc_report_totals totals = {.operations = 20, .no_verdicts = &counts, .final = true};
    sc_no_verdicts_note_unwatched(&counts, SC_NO_VERDICT_OFF, 64);
    sc_no_verdicts_note_unwatched(&counts, SC_NO_VERDICT_OFF, 64);
    sc_no_verdicts_note_unwatched(&counts, SC_NO_VERDICT_STACK, 1);
    sc_no_verdicts_add(&counts, SC_NO_VERDICT_TOUCHES, SC_NO_VERDICT_HOST_FUNCTION, 2);
    sc_no_verdicts_add(&counts, SC_NO_VERDICT_OPERATIONS, SC_NO_VERDICT_HOST_FUNCTION, 1);
    sc_no_verdicts_add(&counts, SC_NO_VERDICT_OPERATIONS, SC_NO_VERDICT_CAPTURE, 4);
    options.verbosity = 2;
    options.strict = true;
    open_report();
    sc_report_summary(&totals);
    ck_has("stderr.txt",
           "no hazards in 20 operations, 3 operations not watched, 2 touches and 5 operations not "
           "judged\n"
           "  not watched:\n"
           "    2 operations: the guard is off\n"
           "    1 operation: stacks\n"
           "  not judged:\n"
           "    2 touches: host functions that may have waited for the program\n"
           "    1 operation: host functions that may have waited for the program\n"
           "    4 operations: work beside captures (SC305): no room, or memory that the graph does "
           "not use\n");
    ck_has("stderr.txt",
           "  strict: passed, 3 operations not watched, 2 touches and 5 operations not "
           "judged\n");
    ck_has("r.jsonl", "\"unguarded\":{\"operations\":3,\"bytes\":129,\"by_reason\":{\"off\":"
                      "{\"operations\":2,\"bytes\":128},\"stack\":{\"operations\":1,\"bytes\":1}}},"
                      "\"unjudged\":{\"uses\":10,\"by_reason\":{\"off\":2,\"stack\":1,"
                      "\"host_function\":3,\"capture\":4}}");
    ck_has("r.jsonl", "\"beside_unjudged\":4,");
}
END_TEST

/* By its one touch, or by its one operation. */
START_TEST(one_that_is_not_judged)
{
    struct sc_no_verdicts counts = {0};
    struct sc_report_totals totals = {.operations = 1, .no_verdicts = &counts, .final = true};
    bool is_touch = _i == 0;
    sc_no_verdicts_add(&counts, is_touch ? SC_NO_VERDICT_TOUCHES : SC_NO_VERDICT_OPERATIONS,
                       SC_NO_VERDICT_HEARD, 1);
    options.verbosity = 2;
    options.strict = true;
    open_report();
    sc_report_summary(&totals);
    ck_has("stderr.txt", is_touch ? "no hazards in 1 operation, 1 touch not judged\n"
                                  : "no hazards in 1 operation, 1 operation not judged\n");
    ck_has("stderr.txt",
           is_touch ? "  not judged:\n    1 touch: " : "  not judged:\n    1 operation: ");
    ck_has("stderr.txt", is_touch ? "  strict: passed, 1 touch not judged\n"
                                  : "  strict: passed, 1 operation not judged\n");
}
END_TEST

START_TEST(the_time_of_a_hazard_that_nobody_counted_changes_nothing)
{
    struct sc_hazard hazard = a_hazard();
    struct sc_report_totals totals = {.timeline = {"listening", 10, 2, 1}, .final = true};
    open_report();
    sc_report_timing(&hazard, &(struct sc_report_timing){1, 2});
    options.verbosity = 2;
    sc_report_summary(&totals);
    ck_has("stderr.txt", "no hazards");
    ck_has("stderr.txt", "  timeline: 2 of 12 records dropped\n");
    ck_has("r.jsonl", "\"timeline\":{\"state\":\"listening\",\"records\":10,\"dropped\":2,"
                      "\"matched\":1},\"options_ignored\"");
}
END_TEST

START_TEST(who_requires_cupti_is_told_why_it_is_not_to_be_had)
{
    struct sc_report_cupti cupti = {"held", 0, "", "a tool"};
    struct sc_report_totals totals = {.coverage = {1, 0, 1}, .cupti = cupti, .final = true};
    options.cupti = SC_CUPTI_REQUIRE;
    open_report();
    sc_report_cupti(&cupti);
    sc_report_summary(&totals);
    ck_has("stderr.txt", "  coverage not checked: another tool holds CUPTI (a tool)\n");
    ck_has("r.jsonl", "\n{\"type\":\"cupti\",\"state\":\"held\",\"version\":null,\"library\":null,"
                      "\"detail\":\"a tool\"}\n");
}
END_TEST

enum { LOST_NS = 9000000, OPERATIONS = 64, MANY = 300 };

static uint32_t stack_number(uintptr_t number)
{
    void *frames[] = {(void *)(0x100000 + number), (void *)number};
    return sc_stacks_put(frames, 2);
}

static struct sc_postmortem_operation an_operation(uint32_t stack)
{
    return (struct sc_postmortem_operation){
        .is = {.api = "cuMemcpyHtoDAsync_v2",
               .direction = SC_H2D,
               .address = 0x1000,
               .source = 0x2000,
               .size_bytes = 16,
               .thread = 5,
               .stack = stack},
        .time_ns = LOST_NS - 1500000,
        .in_flight = true,
    };
}

static struct sc_postmortem a_loss(void)
{
    return (struct sc_postmortem){
        .error = 700,
        .name = "CUDA_ERROR_ILLEGAL_ADDRESS",
        .call = {.api = "cuStreamQuery", .thread = 4, .time_ns = LOST_NS, .stack = stack_number(1)},
    };
}

START_TEST(a_lost_context_has_its_line_at_once)
{
    struct sc_hazard hazard = a_hazard();
    struct sc_postmortem_operation operation = an_operation(stack_number(1));
    struct sc_postmortem_operation freed = {
        .is = {.api = "cuMemFree_v2", .address = 0x3000, .thread = 6}, .time_ns = LOST_NS + 1};
    struct sc_postmortem_stream stream = {0x40, 1, &operation, 1};
    struct sc_postmortem loss = a_loss();
    loss.streams = &stream;
    loss.stream_count = 1;
    loss.frees = &freed;
    loss.free_count = 1;
    open_report();
    sc_report_hazard(&hazard);
    sc_report_postmortem(&loss);
    ck_has("r.jsonl",
           "\n{\"type\":\"postmortem\",\"error\":{\"code\":700,\"name\":"
           "\"CUDA_ERROR_ILLEGAL_ADDRESS\"},\"call\":{\"api\":\"cuStreamQuery\",\"thread\":4,"
           "\"time_ns\":9000000,\"stack\":0},\"hazards\":1,\"by_code\":{\"SC101\":1},\"frees\":[{"
           "\"api\":\"cuMemFree_v2\",\"address\":\"0x3000\",\"thread\":6,\"time_ns\":9000001,"
           "\"age_ns\":0,\"stack\":null}],\"in_flight\":1,\"streams\":[{\"stream\":\"0x40\","
           "\"device\":1,\"operations\":[{\"api\":\"cuMemcpyHtoDAsync_v2\",\"direction\":\"H2D\","
           "\"address\":\"0x1000\",\"source\":\"0x2000\",\"size\":16,\"in_flight\":true,"
           "\"thread\":5,\"time_ns\":7500000,\"age_ns\":1500000,\"stack\":0}]}],\"stacks\":[{"
           "\"stack\":[");
    finish(0, true);
    ck_has("stderr.txt",
           "  the context was lost: CUDA_ERROR_ILLEGAL_ADDRESS (700), first returned "
           "by cuStreamQuery at 0x100001\n    in flight: 1 operation on 1 stream; the "
           "latest cuMemcpyHtoDAsync_v2 at 0x100001\n    memory given back before: 1 "
           "block; the latest 0x3000 by cuMemFree_v2, 0.0 us before\n");
}
END_TEST

START_TEST(a_loss_with_nothing_known_is_told_as_well)
{
    struct sc_postmortem loss = a_loss();
    loss.error = 0;
    loss.name = "SIGABRT";
    open_report();
    sc_report_postmortem(&loss);
    ck_has("r.jsonl", "\"frees\":[],\"in_flight\":0,\"streams\":[],\"stacks\":[{");
    finish(0, true);
    ck_has("stderr.txt",
           "  the program aborted: SIGABRT, at 0x100001\n    in flight: 0 operations\n");
}
END_TEST

/* Stacks go before operations, and a line is whole. */
START_TEST(a_line_that_would_be_too_long_is_cut_where_it_tells_least)
{
    static struct sc_postmortem_operation operations[MANY][OPERATIONS];
    static struct sc_postmortem_stream streams[MANY];
    struct sc_postmortem loss = a_loss();
    for (uintptr_t i = 0; i < MANY; i++) {
        for (uintptr_t at = 0; at < OPERATIONS; at++)
            operations[i][at] = an_operation(stack_number(2 + i * OPERATIONS + at));
        streams[i] = (struct sc_postmortem_stream){i, 0, operations[i], OPERATIONS};
    }
    loss.streams = streams;
    loss.stream_count = MANY;
    open_report();
    sc_report_postmortem(&loss);
    finish(0, true);
    int size = (int)strlen(read_whole("r.jsonl"));
    ck_assert_int_gt(size, 512 << 10);
    ck_has("r.jsonl", "\"stacks\":[{\"stack\":[{");
    ck_has("r.jsonl", "}]}]}\n{\"type\":\"summary\"");
    ck_has("stderr.txt", "    in flight: 19200 operations on 300 streams;");
}
END_TEST

START_TEST(a_run_can_fail_without_a_hazard)
{
    open_report();
    ck_assert_int_eq(sc_report_exit_status(0), 0);
    sc_report_fail();
    ck_assert_int_eq(sc_report_exit_status(0), options.exitcode);
    ck_assert_int_eq(sc_report_exit_status(3), 3);
}
END_TEST

START_TEST(hazards_name_what_the_program_called)
{
    struct sc_hazard hazard = a_hazard();
    hazard.copy.runtime_api = "cudaMemcpyAsync";
    hazard.copy.correlation_id = 42;
    hazard.event.api = "cuMemFreeHost";
    hazard.event.runtime_api = "cudaFreeHost";
    open_report();
    sc_report_hazard(&hazard);
    finish(0, true);
    ck_has("r.jsonl",
           "\"copy\":{\"api\":\"cuMemcpyHtoDAsync_v2\",\"runtime_api\":\"cudaMemcpyAsync\","
           "\"correlation_id\":42,");
    ck_has("r.jsonl", "\"event\":{\"api\":\"cuMemFreeHost\",\"runtime_api\":\"cudaFreeHost\"");
    ck_has("stderr.txt", "    cudaFreeHost (cuMemFreeHost)\n");
    ck_has("stderr.txt", "cudaMemcpyAsync (cuMemcpyHtoDAsync_v2)");
}
END_TEST

START_TEST(who_changed_a_source_is_told_from_who_found_it_changed)
{
    struct sc_hazard hazard = a_hazard();
    hazard.code = SC201;
    hazard.event.api = "cuMemcpyDtoH_v2";
    open_report();
    sc_report_hazard(&hazard);
    ck_assert_ptr_null(strstr(read_whole("r.jsonl"), "found_later"));
    hazard.found_later = true;
    hazard.event.api = "cuStreamSynchronize";
    sc_report_hazard(&hazard);
    finish(0, true);
    ck_has("r.jsonl", "\"found_later\":true");
    ck_has("stderr.txt", "with nothing that waits for cuMemcpyHtoDAsync_v2 to read 4 MB");
    ck_has("stderr.txt", "found changed what cuMemcpyHtoDAsync_v2 was to read: 4 MB");
}
END_TEST

/* Who added the second one is not known. */
START_TEST(of_two_nodes_of_a_graph_both_are_named)
{
    struct sc_hazard hazard = a_hazard();
    hazard.code = SC501;
    hazard.buffer_kind = SC_DEVICE;
    hazard.copy.api = "cuMemsetD8Async";
    hazard.copy.direction = SC_MEMSET;
    hazard.event.api = "cuGraphLaunch";
    hazard.nodes[0] = (struct sc_hazard_node){.direction = SC_MEMSET,
                                              .address = 0x7000,
                                              .size_bytes = 8192,
                                              .author = {.api = "cuMemsetD8Async", .thread = 5}};
    hazard.nodes[1] = (struct sc_hazard_node){
        .direction = SC_D2D, .reads = true, .address = 0x8000, .size_bytes = 1024};
    open_report();
    sc_report_hazard(&hazard);
    hazard.copy.api = "cuGraphInstantiateWithFlags";
    hazard.nodes[0].author.api = NULL;
    sc_report_hazard(&hazard);
    finish(0, true);
    ck_has("r.jsonl",
           ",\"nodes\":[{\"direction\":\"memset\",\"use\":\"write\",\"address\":\"0x7000\","
           "\"size\":8192,\"author\":{\"api\":\"cuMemsetD8Async\",\"thread\":5,\"time_ns\":0,"
           "\"stack\":[]}},{\"direction\":\"D2D\",\"use\":\"read\",\"address\":\"0x8000\","
           "\"size\":1024}],\"count\":1}\n");
    ck_has("stderr.txt", "    cuGraphLaunch\n"
                         "    of a graph with no order between a memset that writes 8 KB of device "
                         "memory, added by cuMemsetD8Async\n"
                         "    and a copy on the device that reads 1 KB there\n"
                         "    healed");
    ck_has("stderr.txt", "    of a graph with no order between a memset that writes 8 KB of device "
                         "memory\n"
                         "    and a copy on the device that reads 1 KB there\n"
                         "    made ready by cuGraphInstantiateWithFlags\n");
}
END_TEST

START_TEST(only_the_first_final_summary_counts)
{
    struct sc_hazard hazard = a_hazard();
    open_report();
    finish(-1, false);
    ck_has("r.jsonl", "\"exit_status\":null}\n");
    sc_report_hazard(&hazard);
    finish(0, true);
    finish(0, true);
    ck_assert_uint_eq(count_of(read_whole("r.jsonl"), "\"type\":\"summary\""), 2);
    ck_assert_uint_eq(count_of(read_whole("stderr.txt"), "safecopy: 1 hazard at"), 1);
}
END_TEST

START_TEST(strict_decides_on_the_exit_status)
{
    struct sc_hazard hazard = a_hazard();
    options.strict = true;
    options.certainty = SC_OBSERVED;
    open_report();
    ck_assert_int_eq(sc_report_exit_status(0), 0);
    sc_report_hazard(&hazard);
    ck_assert_int_eq(sc_report_exit_status(0), 0);
    options.certainty = SC_LATENT;
    ck_assert_int_eq(sc_report_exit_status(0), 66);
    options.certainty = SC_OBSERVED;
    hazard.certainty = SC_OBSERVED;
    sc_report_hazard(&hazard);
    ck_assert_int_eq(sc_report_exit_status(0), 66);
    ck_assert_int_eq(sc_report_exit_status(3), 3);
    options.strict = false;
    ck_assert_int_eq(sc_report_exit_status(0), 0);
}
END_TEST

START_TEST(a_hazard_before_the_report_is_open_is_counted)
{
    struct sc_hazard hazard = a_hazard();
    struct sc_report_counts counts;
    ck_assert(sc_report_hazard(&hazard));
    finish(0, true);
    sc_report_counts(&counts);
    ck_assert_uint_eq(counts.hazards, 1);
    ck_assert_int_ne(access("r.jsonl", F_OK), 0);
}
END_TEST

START_TEST(report_path_none_writes_none)
{
    struct sc_hazard hazard = a_hazard();
    strcpy(options.report_path, "none");
    ck_assert_int_eq(open_report(), 0);
    ck_assert(sc_report_hazard(&hazard));
    finish(0, true);
    ck_assert_int_ne(access("none", F_OK), 0);
    ck_has("stderr.txt", "safecopy: 1 hazard at 1 place (0 observed, 1 latent)\n");
}
END_TEST

START_TEST(directories_are_made)
{
    strcpy(options.report_path, "a/b//%r/x.jsonl");
    setenv("RANK", "../7", 1);
    ck_assert_int_eq(open_report(), 0);
    ck_assert_int_eq(access("a/b/.._7/x.jsonl", F_OK), 0);
    ck_has("a/b/.._7/x.jsonl", "\"rank\":\"../7\"");
}
END_TEST

START_TEST(patterns_are_expanded)
{
    struct sc_path_names names = {.executable = "/opt/app/train",
                                  .directory = "/work",
                                  .host = "node1",
                                  .rank = "",
                                  .pid = 42};
    char path[64], tiny[8];
    ck_assert_int_eq(sc_path_expand("%e.%p.%h.%r", &names, path, sizeof path), 0);
    ck_assert_str_eq(path, "/work/train.42.node1.0");
    ck_assert_int_eq(sc_path_expand("/x/%q%%%", &names, path, sizeof path), 0);
    ck_assert_str_eq(path, "/x/%q%%%");
    ck_assert_int_eq(sc_path_expand("/too/long", &names, tiny, sizeof tiny), -ENAMETOOLONG);
}
END_TEST

START_TEST(names_put_in_lead_into_no_other_directory)
{
    static const struct {
        const char *name, *pattern, *path;
    } rows[] = {
        {".", "/x/%r/r", "/x/_/r"},
        {"..", "/x/%r/r", "/x/__/r"},
        {"..", "/x/%r", "/x/__"},
        {"..", "%r/r", "/work/__/r"},
        {".", "/x/%r%r/r", "/x/__/r"},
        {".", "/x/.%r/r", "/x/__/r"},
        {".", "/x/%r./r", "/x/__/r"},
        {"..", "/x/%e/%h/%r", "/x/__/__/__"},
        {"..", "/x/../%r/./r", "/x/../__/./r"},
        {"..", "/x/r%r/%r%r/%r.", "/x/r../..../..."},
        {"../a", "/x/%r", "/x/.._a"},
        {"/../..", "/x/%e%r", "/x/.._.._.."},
        {"a\nb\x1b[2J\x7f", "/x/%r", "/x/a_b_[2J_"},
        {"", "/x/%r/%h/%e", "/x/0//unknown"},
        {"..", "/x/%./%q..", "/x/%./%q.."},
        {"..", "/x/a%/%r/%", "/x/a%/__/%"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct sc_path_names names = {.directory = "/work"};
        char path[64];
        snprintf(names.executable, sizeof names.executable, "/bin/%s", rows[i].name);
        snprintf(names.host, sizeof names.host, "%s", rows[i].name);
        snprintf(names.rank, sizeof names.rank, "%s", rows[i].name);
        if (rows[i].name[0] == '\0')
            names.executable[0] = '\0';
        ck_assert_int_eq(sc_path_expand(rows[i].pattern, &names, path, sizeof path), 0);
        ck_assert_str_eq(path, rows[i].path);
    }
}
END_TEST

START_TEST(a_full_disk_is_one_line_and_strict_still_counts)
{
    struct sc_hazard hazard = a_hazard();
    strcpy(options.report_path, "/dev/full");
    options.strict = true;
    open_report();
    for (int i = 0; i < 10; i++)
        sc_report_hazard(&hazard);
    ck_assert_int_eq(sc_report_exit_status(0), 66);
    ck_assert_uint_eq(count_of(read_whole("stderr.txt"), "\n"), 1);
    ck_has("stderr.txt", "safecopy: cannot write the report (No space left on device): /dev/full;");
}
END_TEST

START_TEST(names_cannot_steer_the_terminal)
{
    struct sc_hazard hazard = a_hazard();
    sc_report_say(NULL, "a\033[2J\nsafecopy: b\177");
    ck_assert_str_eq(read_whole("stderr.txt"), "safecopy: a\\u001b[2J\\u000asafecopy: b\\u007f\n");
    strcpy(options.report_path, "r\033[2J\n\xc2\x9b\xe2\x80\xae\xff.jsonl");
    ck_assert_int_eq(open_report(), 0);
    sc_report_hazard(&hazard);
    finish(0, true);
    ck_has("stderr.txt", "/r\\u001b[2J\\u000a\\u009b\\u202e\\xff.jsonl\n");
    ck_assert_ptr_null(strpbrk(contents, "\033\xc2\xe2\xff"));
}
END_TEST

START_TEST(a_fifo_that_nobody_reads_is_one_line)
{
    struct sc_hazard hazard = a_hazard();
    ck_assert_int_eq(mkfifo("r.jsonl", 0600), 0);
    ck_assert_int_eq(open_report(), -ENXIO);
    ck_assert(sc_report_hazard(&hazard));
    ck_assert_uint_eq(count_of(read_whole("stderr.txt"), "\n"), 1);
    ck_has("stderr.txt", "/r.jsonl; hazards are still counted. Start the reader first");
}
END_TEST

START_TEST(stdout_may_be_the_report)
{
    int ends[2];
    ck_assert_int_eq(pipe(ends), 0);
    dup2(ends[1], STDOUT_FILENO);
    strcpy(options.report_path, "/dev/stdout");
    ck_assert_int_eq(open_report(), 0);
    finish(0, true);
    ssize_t size = read(ends[0], contents, sizeof contents - 1);
    ck_assert_int_gt(size, 0);
    contents[size] = '\0';
    ck_assert_uint_eq(count_of(contents, "\n"), 2);
}
END_TEST

/* What the program `name`, a copy of this one, says of a report's worth of hazards. */
static const char *said_by_copy(const char *name)
{
    char command[sizeof program + 64];
    snprintf(command, sizeof command, "cp '%s' '%s'", program, name);
    ck_assert_int_eq(system(command), 0);
    pid_t child = fork();
    if (child == 0) {
        if (freopen("said.txt", "w", stderr))
            execl(name, name, "--write", "r.jsonl", NULL);
        _exit(127);
    }
    int status;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    return read_whole("said.txt");
}

START_TEST(the_name_of_the_program_cannot_either)
{
    unsigned lines = count_of(said_by_copy("./plain"), "\n");
    said_by_copy("./p\033[2J\n\xc2\x9b\xe2\x80\xae\xff");
    ck_assert_uint_eq(count_of(contents, "\n"), lines);
    ck_assert_ptr_null(strpbrk(contents, "\033\xc2\xe2\xff"));
    ck_assert_ptr_nonnull(strstr(contents, "/p\\u001b[2J\\u000a\\u009b\\u202e\\xff+0x"));
}
END_TEST

START_TEST(a_file_that_is_no_report_stays_and_is_named)
{
    char apart[64], words[128];
    snprintf(apart, sizeof apart, "r.jsonl.%d", (int)getpid());
    snprintf(words, sizeof words, "the report lies beside it, with %s behind its name\n",
             strrchr(apart, '.'));
    ck_assert_int_eq(system("echo data >r.jsonl"), 0);
    options.verbosity = _i;
    ck_assert_int_eq(open_report(), 0);
    finish(0, true);
    ck_assert_str_eq(read_whole("r.jsonl"), "data\n");
    ck_has(apart, SC_REPORT_BEGINNING "1,");
    read_whole("stderr.txt");
    ck_assert_uint_eq(count_of(contents, words), _i > 0 ? 1 : 0);
    ck_assert_uint_eq(count_of(contents, "safecopy: "), _i > 0 ? 1 : 0);
}
END_TEST

/* It would be in the way of the next one; what was there before an exec is none of that. */
START_TEST(a_report_that_finds_no_room_leaves_no_name)
{
    struct rlimit before, less = {64, 0};
    ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &before), 0);
    less.rlim_max = before.rlim_max;
    signal(SIGXFSZ, SIG_IGN); /* Check writes, too */
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &less), 0);
    open_report();
    finish(0, true);
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &before), 0);
    ck_assert_int_ne(access("r.jsonl", F_OK), 0);
}
END_TEST

START_TEST(a_working_folder_that_is_gone_is_not_made)
{
    ck_assert_int_eq(mkdir("folder", 0700), 0);
    ck_assert_int_eq(chdir("folder"), 0);
    ck_assert_int_eq(rmdir("../folder"), 0);
    ck_assert_int_eq(open_report(), -ENOENT);
    ck_assert_int_eq(chdir(directory), 0);
    ck_assert_int_eq(system("test $(ls | wc -l) = 1"), 0); /* stderr.txt */
}
END_TEST

/* Who waits for a reader of the FIFO would take us for one. */
START_TEST(a_fifo_is_not_opened_for_reading)
{
    char event[512];
    ck_assert_int_eq(mkfifo("r.jsonl", 0600), 0);
    int reader = open("r.jsonl", O_RDONLY | O_NONBLOCK);
    int watch = inotify_init1(IN_NONBLOCK);
    ck_assert_int_ge(inotify_add_watch(watch, "r.jsonl", IN_CLOSE_NOWRITE), 0);
    ck_assert_int_eq(open_report(), 0);
    ck_assert_int_eq(read(watch, event, sizeof event), -1);
    ck_assert_int_eq(errno, EAGAIN);
    ck_assert_int_gt(read(reader, contents, sizeof contents), 0);
    close(reader);
    close(watch);
}
END_TEST

START_TEST(a_path_that_cannot_be_opened_is_one_line)
{
    struct sc_hazard hazard = a_hazard();
    strcpy(options.report_path, "stderr.txt/r.jsonl");
    ck_assert_int_eq(open_report(), -ENOTDIR);
    sc_report_hazard(&hazard);
    ck_assert_uint_eq(count_of(read_whole("stderr.txt"), "\n"), 1);
    ck_has("stderr.txt", "cannot write the report (Not a directory): ");
}
END_TEST

START_TEST(a_limit_on_file_sizes_does_not_kill_the_program)
{
    struct sc_hazard hazard = a_hazard();
    struct rlimit limit = {6000, RLIM_INFINITY};
    open_report();
    setrlimit(RLIMIT_FSIZE, &limit);
    for (int i = 0; i < 1 << 17; i++)
        sc_report_hazard(&hazard);
    sigset_t pending;
    sigpending(&pending);
    ck_assert(!sigismember(&pending, SIGXFSZ));
    ck_has("stderr.txt", "cannot write the report (File too large)");
}
END_TEST

START_TEST(a_closed_stderr_does_not_kill_the_program)
{
    int ends[2];
    ck_assert_int_eq(pipe(ends), 0);
    close(ends[0]);
    dup2(ends[1], STDERR_FILENO);
    sc_report_say(NULL, "nobody hears this");
    close(STDERR_FILENO);
    sc_report_say(NULL, "nor this");
}
END_TEST

static int open_data(int flags)
{
    return open("other", O_RDWR | O_CREAT | flags, 0600);
}

static int plain_file(void)
{
    return open_data(0);
}

static int log_file(void)
{
    return open_data(O_APPEND);
}

static int same_file(void)
{
    return open("stderr.txt", O_WRONLY);
}

static int pipe_end(void)
{
    int ends[2];
    return pipe2(ends, O_NONBLOCK) == 0 ? (dup2(ends[0], 100), ends[1]) : -1;
}

static int socket_end(void)
{
    int ends[2];
    return socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends) == 0
               ? (dup2(ends[0], 100), ends[1])
               : -1;
}

static int terminal(void)
{
    int master = posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK);
    if (master < 0 || grantpt(master) != 0 || unlockpt(master) != 0)
        return -1;
    dup2(master, 100);
    return open(ptsname(master), O_RDWR | O_NOCTTY);
}

/* What is at the number of stderr by now; where the words can be read, and whether they are. */
static const struct {
    int (*make)(void);
    const char *file; /* NULL: descriptor 100 */
    bool is_told;
} ends[] = {
    {plain_file, "other", false}, {log_file, "other", true}, {same_file, "stderr.txt", true},
    {pipe_end, NULL, true},       {socket_end, NULL, false}, {terminal, NULL, true},
};

START_TEST(words_go_to_a_stderr_and_into_no_data)
{
    char bytes[256] = "";
    sc_report_note_descriptors();
    int fd = ends[_i].make();
    if (fd < 0)
        return; /* no terminals here */
    ck_assert_int_eq(dup2(fd, STDERR_FILENO), STDERR_FILENO);
    ck_assert_int_eq(sc_report_has_stderr(), ends[_i].is_told);
    errno = 77;
    sc_report_say(NULL, "words");
    ck_assert_int_eq(errno, 77);
    if (ends[_i].file)
        strcpy(bytes, read_whole(ends[_i].file));
    else if (read(100, bytes, sizeof bytes - 1) < 0)
        bytes[0] = '\0';
    ck_assert_int_eq(strncmp(bytes, "safecopy: words", 15) == 0, ends[_i].is_told);
    ck_assert_int_eq(bytes[0] == '\0', !ends[_i].is_told);
}
END_TEST

/* A daemon closes every descriptor that it did not open. */
static void close_all_descriptors(void)
{
    for (int fd = 3; fd < 1024; fd++)
        close(fd);
}

START_TEST(a_closed_report_is_opened_again)
{
    struct sc_hazard hazard = a_hazard();
    open_report();
    close_all_descriptors();
    ck_assert(sc_report_hazard(&hazard));
    finish(0, true);
    ck_assert_uint_eq(count_of(read_whole("r.jsonl"), "\n"), 3);
}
END_TEST

/* The file that is there is ours, but not by the name that is there. */
START_TEST(a_closed_report_is_not_opened_through_a_link)
{
    struct sc_hazard hazard = a_hazard();
    open_report();
    close_all_descriptors();
    ck_assert_int_eq(rename("r.jsonl", "moved"), 0);
    ck_assert_int_eq(symlink("moved", "r.jsonl"), 0);
    ck_assert(sc_report_hazard(&hazard));
    ck_assert_uint_eq(count_of(read_whole("moved"), "\n"), 1);
    ck_has("stderr.txt", "cannot write the report (a symbolic link is there)");
}
END_TEST

/* What a life of the process before exec has written is in the file `after_exec` names. */
static void write_two_lives(const char *act, const char *after_exec, unsigned runs)
{
    pid_t child = fork();
    if (child == 0) {
        execl(program, program, "--lives", act, NULL);
        _exit(127);
    }
    int status;
    char path[64];
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    snprintf(path, sizeof path, after_exec, child);
    ck_assert_uint_eq(count_of(read_whole(path), "{\"type\":\"run\""), runs);
    ck_assert_uint_eq(count_of(contents, "\n"), runs * 2);
}

START_TEST(a_process_that_replaces_itself_goes_on_in_its_file)
{
    write_two_lives("true", "r.jsonl", 2);
    write_two_lives("true", "r.jsonl", 2); /* the first two have ended, and are replaced */
    write_two_lives("ln r.jsonl linked", "r.jsonl.%d", 1);
    ck_assert_uint_eq(count_of(read_whole("linked"), "\n"), 2);
}
END_TEST

START_TEST(a_file_of_the_program_is_never_written)
{
    struct sc_hazard hazard = a_hazard();
    open_report();
    close_all_descriptors();
    int theirs = open("theirs", O_RDWR | O_CREAT, 0600);
    for (int fd = 3; fd < 1024; fd++)
        dup2(theirs, fd);
    sc_report_hazard(&hazard);
    close_all_descriptors();
    ck_assert_str_eq(read_whole("theirs"), "");
}
END_TEST

START_TEST(the_report_leaves_low_descriptors_alone_and_closes_on_exec)
{
    int next = dup(0);
    close(next);
    open_report();
    ck_assert_int_eq(dup(0), next);
    int found = 0;
    struct stat file, status;
    ck_assert_int_eq(stat("r.jsonl", &file), 0);
    for (int fd = 0; fd < 1024; fd++) {
        if (fstat(fd, &status) == 0 && status.st_ino == file.st_ino) {
            ck_assert_int_ne(fcntl(fd, F_GETFD) & FD_CLOEXEC, 0);
            found++;
        }
    }
    ck_assert_int_eq(found, 1);
}
END_TEST

START_TEST(a_forked_child_writes_a_report_of_its_own)
{
    struct sc_hazard hazard = a_hazard();
    char child_path[64];
    open_report();
    sc_report_hazard(&hazard);
    pid_t child = fork();
    if (child == 0) {
        struct sc_report_counts counts;
        sc_report_child();
        sc_report_counts(&counts);
        bool right = counts.hazards == 0 && open_report() == 0 && sc_report_hazard(&hazard);
        finish(0, true);
        _exit(right ? 0 : 1);
    }
    int status;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    snprintf(child_path, sizeof child_path, "r.jsonl.%d", child);
    ck_assert_uint_eq(count_of(read_whole(child_path), "\n"), 3);
    ck_assert_uint_eq(count_of(read_whole("r.jsonl"), "\n"), 2);
}
END_TEST

static void *report_many(void *argument)
{
    struct sc_hazard hazard = a_hazard();
    void *frame = argument;
    hazard.copy.stack = sc_stacks_put(&frame, 1);
    for (int i = 0; i < 1000; i++)
        sc_report_hazard(&hazard);
    return NULL;
}

START_TEST(lines_of_many_threads_stay_whole)
{
    pthread_t threads[8];
    struct sc_report_counts counts;
    open_report();
    for (uintptr_t i = 0; i < 8; i++)
        pthread_create(&threads[i], NULL, report_many, (void *)(i + 1)); // NOLINT
    for (int i = 0; i < 8; i++)
        pthread_join(threads[i], NULL);
    sc_report_counts(&counts);
    ck_assert_uint_eq(counts.hazards, 8000);
    read_whole("r.jsonl");
    ck_assert_uint_eq(count_of(contents, "\n{\"type\":\"hazard\""), 80);
    ck_assert_uint_eq(count_of(contents, "}\n"), 81);
}
END_TEST

START_TEST(errno_survives)
{
    struct sc_hazard hazard = a_hazard();
    strcpy(options.report_path, "stderr.txt/r.jsonl");
    errno = 77;
    open_report();
    ck_assert_int_eq(errno, 77);
    sc_report_hazard(&hazard);
    finish(0, true);
    ck_assert_int_eq(errno, 77);
}
END_TEST

static const struct {
    const char *text, *json;
} strings[] = {
    {"", "\"\""},
    {"a\"b\\c/d", "\"a\\\"b\\\\c/d\""},
    {"\n\t\x1f\x7f", "\"\\u000a\\u0009\\u001f\\u007f\""},
    {"\xc2\x9b\xe2\x80\xae", "\"\\u009b\\u202e\""},
    {"\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80", "\"\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80\""},
    {"\xff", "\"\\\\xff\""},
    {"\xc3", "\"\\\\xc3\""},
    {"\xc0\xaf", "\"\\\\xc0\\\\xaf\""},
    {"\xed\xa0\x80", "\"\\\\xed\\\\xa0\\\\x80\""},
    {"\xf4\x90\x80\x80", "\"\\\\xf4\\\\x90\\\\x80\\\\x80\""},
    {"\xe2\x82z", "\"\\\\xe2\\\\x82z\""},
};

START_TEST(strings_are_escaped)
{
    char bytes[128];
    struct sc_text text = sc_text_in(bytes, sizeof bytes);
    sc_json_put(&text, "%s", strings[_i].text);
    ck_assert_str_eq(bytes, strings[_i].json);
}
END_TEST

START_TEST(text_is_cut_and_not_overrun)
{
    char bytes[8];
    struct sc_text text;
    memset(bytes, 'x', sizeof bytes);
    text = sc_text_in(bytes, 7);
    sc_text_put(&text, "12345");
    ck_assert(!text.cut);
    sc_text_format(&text, "%u", 678);
    ck_assert(text.cut);
    ck_assert_str_eq(bytes, "123456");
    ck_assert_int_eq(bytes[7], 'x');
}
END_TEST

/* Readers of JSON take no number beyond that of 63 bits (jansson; JavaScript takes fewer). */
START_TEST(a_number_that_no_reader_takes_is_the_greatest_that_one_does)
{
    char bytes[64];
    struct sc_text text = sc_text_in(bytes, sizeof bytes);
    sc_json_put(&text, "[%lu %lu %lu]", UINT64_MAX, (uint64_t)INT64_MAX, UINT64_C(7));
    ck_assert_str_eq(bytes, "[9223372036854775807,9223372036854775807,7]");
}
END_TEST

START_TEST(numbers_and_units)
{
    char bytes[256];
    struct sc_text text = sc_text_in(bytes, sizeof bytes);
    sc_text_format(&text, "%lu", UINT64_MAX);
    sc_text_char(&text, ' ');
    sc_text_format(&text, "%ld", INT64_MIN);
    sc_text_char(&text, ' ');
    sc_text_format(&text, "%#lx", UINT64_MAX);
    sc_text_char(&text, ' ');
    sc_text_size(&text, 1536);
    sc_text_char(&text, ' ');
    sc_text_size(&text, UINT64_MAX);
    ck_assert_str_eq(bytes, "18446744073709551615 -9223372036854775808 0xffffffffffffffff 1.5 KB "
                            "16777215 TB");
}
END_TEST

START_TEST(a_format_has_the_directives_of_printf)
{
    char bytes[128], expected[sizeof bytes];
    struct sc_text text = sc_text_in(bytes, sizeof bytes);
    snprintf(expected, sizeof expected, "%s %c %u %d %lu %ld %#lx 100%% %s", "a", 'b', UINT_MAX,
             INT_MIN, ULONG_MAX, LONG_MIN, 31UL, "");
    sc_text_format(&text, "%s %c %u %d %lu %ld %#lx 100%% %s", "a", 'b', UINT_MAX, INT_MIN,
                   ULONG_MAX, LONG_MIN, 31UL, "");
    ck_assert_str_eq(bytes, expected);
    text = sc_text_in(bytes, 7);
    sc_text_format(&text, "%#lx and %d", 0UL, 5);
    ck_assert_str_eq(bytes, "0x0 an");
    ck_assert(text.cut);
}
END_TEST

/* `test_report --write FILE`: a report with every word in it, for the tests in Python. */
__attribute__((noinline)) static int write_report(const char *path)
{
    struct sc_hazard hazard = a_hazard();
    sc_options_defaults(&options);
    strcpy(options.report_path, path);
    sc_options_parse(&options, "stirct=1:bad=\xff\n", NULL, NULL);
    open_report();
    put_own_stack(&hazard.event.stack);
    for (unsigned i = 0; i < SC_HAZARD_CODE_COUNT; i++) {
        hazard.code = (enum sc_hazard_code)i;
        hazard.certainty = (enum sc_certainty)(i % 2);
        hazard.action = (enum sc_action)(i % (SC_ACTION_REPORTED + 1));
        hazard.buffer_kind = (enum sc_buffer_kind)(i % SC_NO_BUFFER);
        hazard.copy.direction = (enum sc_direction)(i % (SC_PREFETCH + 1));
        sc_report_hazard(&hazard);
        sc_report_hazard(&hazard);
    }
    hazard.copy.correlation_id = 3;
    sc_report_timing(&hazard, &(struct sc_report_timing){1, 2});
    finish(-1, false);
    finish(sc_report_exit_status(0), true);
    return 0;
}

/* `test_report --lives COMMAND`: a report, the command, and a report of the next life. */
static int write_lives(const char *name, const char *command)
{
    sc_options_defaults(&options);
    strcpy(options.report_path, "r.jsonl");
    if (open_report() != 0)
        return 1;
    finish(0, true);
    if (!command)
        return 0;
    if (system(command) == 0)
        execl(name, name, "--lives", NULL);
    return 2;
}

int main(int argc, char **argv)
{
    if (argc >= 3 && strcmp(argv[1], "--write") == 0)
        return write_report(argv[2]);
    if (argc >= 2 && strcmp(argv[1], "--lives") == 0)
        return write_lives(argv[0], argv[2]);
    if (argc >= 2 && strcmp(argv[1], "--nothing") == 0)
        return 0;
    bool starts_itself = can_start_itself("--nothing");
    Suite *suite = suite_create("report");
    TCase *group = tcase_create("report");
    tcase_add_checked_fixture(group, set_up, tear_down);
    tcase_add_test(group, a_run_without_hazards_is_a_run_and_a_summary);
    tcase_add_test(group, a_name_that_is_gone_is_left_out);
    tcase_add_test(group, names_of_threads_and_origins_are_told);
    tcase_add_test(group, opening_twice_is_opening_once);
    tcase_add_test(group, verbosity_two_always_summarises);
    tcase_add_test(group, verbosity_zero_is_silent);
    tcase_add_test(group, equal_hazards_are_a_line_each_time_the_count_doubles);
    tcase_add_test(group, the_first_observed_of_latent_ones_is_told);
    tcase_add_test(group, equal_hazards_under_another_label_are_a_line);
    tcase_add_test(group, an_ignored_hazard_is_counted_with_its_reason);
    tcase_add_test(group, more_reasons_than_are_told_apart_are_counted_together);
    tcase_add_test(group, code_stacks_and_without_stacks_names_tell_hazards_apart);
    tcase_add_test(group, more_places_than_the_table_holds_are_still_counted);
    tcase_add_test(group, frames_name_module_and_offset);
    tcase_add_test(group, what_is_loaded_later_is_listed_once);
    tcase_add_test(group, modules_that_were_not_taken_come_again);
    tcase_add_test(group, python_frames_have_file_line_and_function);
    tcase_add_test(group, the_summary_says_what_where_and_what_was_done);
    tcase_add_loop_test(group, the_summary_makes_plain_cplusplus_names_readable, 0,
                        (int)(sizeof cplusplus / sizeof cplusplus[0]));
    tcase_add_test(group, equal_misses_are_a_line_each_time_the_count_doubles);
    tcase_add_test(group, more_misses_than_the_table_holds_write_nothing);
    tcase_add_test(group, the_summary_tells_of_misses_and_of_cupti);
    tcase_add_test(group, a_hazard_is_timed_when_its_copy_is_known);
    tcase_add_test(group, of_equal_hazards_the_one_that_had_most_left_counts);
    tcase_add_test(group, a_copy_that_was_over_is_told_so);
    tcase_add_test(group, what_is_not_judged_is_said_and_counted_by_reason);
    tcase_add_loop_test(group, one_that_is_not_judged, 0, 2);
    tcase_add_test(group, the_time_of_a_hazard_that_nobody_counted_changes_nothing);
    tcase_add_test(group, who_requires_cupti_is_told_why_it_is_not_to_be_had);
    tcase_add_test(group, a_run_can_fail_without_a_hazard);
    tcase_add_test(group, hazards_name_what_the_program_called);
    tcase_add_test(group, who_changed_a_source_is_told_from_who_found_it_changed);
    tcase_add_test(group, of_two_nodes_of_a_graph_both_are_named);
    tcase_add_test(group, only_the_first_final_summary_counts);
    tcase_add_test(group, strict_decides_on_the_exit_status);
    tcase_add_test(group, a_hazard_before_the_report_is_open_is_counted);
    tcase_add_test(group, report_path_none_writes_none);
    tcase_add_test(group, directories_are_made);
    tcase_add_test(group, patterns_are_expanded);
    tcase_add_test(group, names_put_in_lead_into_no_other_directory);
    tcase_add_test(group, a_full_disk_is_one_line_and_strict_still_counts);
    tcase_add_test(group, names_cannot_steer_the_terminal);
    if (starts_itself)
        tcase_add_test(group, the_name_of_the_program_cannot_either);
    tcase_add_loop_test(group, a_file_that_is_no_report_stays_and_is_named, 0, 2);
    tcase_add_test(group, a_report_that_finds_no_room_leaves_no_name);
    tcase_add_test(group, a_working_folder_that_is_gone_is_not_made);
    tcase_add_test(group, a_fifo_is_not_opened_for_reading);
    tcase_add_test(group, a_fifo_that_nobody_reads_is_one_line);
    tcase_add_test(group, stdout_may_be_the_report);
    tcase_add_test(group, a_path_that_cannot_be_opened_is_one_line);
    tcase_add_test(group, a_limit_on_file_sizes_does_not_kill_the_program);
    tcase_add_test(group, a_closed_stderr_does_not_kill_the_program);
    tcase_add_loop_test(group, words_go_to_a_stderr_and_into_no_data, 0,
                        (int)(sizeof ends / sizeof ends[0]));
    tcase_add_test(group, a_closed_report_is_opened_again);
    tcase_add_test(group, a_closed_report_is_not_opened_through_a_link);
    if (starts_itself)
        tcase_add_test(group, a_process_that_replaces_itself_goes_on_in_its_file);
    tcase_add_test(group, a_file_of_the_program_is_never_written);
    tcase_add_test(group, the_report_leaves_low_descriptors_alone_and_closes_on_exec);
    tcase_add_test(group, a_forked_child_writes_a_report_of_its_own);
    tcase_add_test(group, lines_of_many_threads_stay_whole);
    tcase_add_test(group, errno_survives);
    tcase_add_test(group, a_lost_context_has_its_line_at_once);
    tcase_add_test(group, a_loss_with_nothing_known_is_told_as_well);
    tcase_add_test(group, a_line_that_would_be_too_long_is_cut_where_it_tells_least);
    tcase_add_loop_test(group, strings_are_escaped, 0, (int)(sizeof strings / sizeof strings[0]));
    tcase_add_test(group, text_is_cut_and_not_overrun);
    tcase_add_test(group, a_number_that_no_reader_takes_is_the_greatest_that_one_does);
    tcase_add_test(group, numbers_and_units);
    tcase_add_test(group, a_format_has_the_directives_of_printf);
    suite_add_tcase(suite, group);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
