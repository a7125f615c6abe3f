/* links: interpose/base/process.c interpose/base/warning.c
 *
 * What a tool is shown, and when nobody is. The tool is a list of what it was called with; the
 * thread is a plain one.
 */
#include <check.h>
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtCuda.h>
#include <sys/wait.h>
#include <unistd.h>

static nvtxDomainHandle_t fake_create(const char *name);
static void fake_name_category(nvtxDomainHandle_t domain, uint32_t category, const char *name);
static void fake_mark(nvtxDomainHandle_t domain, const nvtxEventAttributes_t *mark);
static nvtxRangeId_t fake_start(nvtxDomainHandle_t domain, const nvtxEventAttributes_t *range);
static void fake_end(nvtxDomainHandle_t domain, nvtxRangeId_t id);
static void fake_name_stream(CUstream stream, const char *name);

#define nvtxDomainCreateA fake_create
#define nvtxDomainNameCategoryA fake_name_category
#define nvtxDomainMarkEx fake_mark
#define nvtxDomainRangeStartEx fake_start
#define nvtxDomainRangeEnd fake_end
#define nvtxNameCuStreamA fake_name_stream

#include "interpose/reaper/nvtx.c" /* poisons, so it comes last */

static char told[64 * 1024]; /* the tool's; read when the thread has ended */
static unsigned categories;
static _Atomic unsigned created, calls;
static bool refuses;
static _Atomic bool holds_up; /* in its next call */

static void tell(const char *what, uint64_t number, const char *words)
{
    struct sc_text text;
    size_t used = strlen(told);
    text = sc_text_in(told + used, sizeof told - used);
    sc_text_put(&text, what);
    sc_text_char(&text, ' ');
    sc_text_format(&text, "%lu", (unsigned long)number);
    sc_text_char(&text, ' ');
    sc_text_put(&text, words);
    sc_text_char(&text, '\n');
    calls++;
    while (atomic_load(&holds_up))
        usleep(1000);
}

static nvtxDomainHandle_t fake_create(const char *name)
{
    created++;
    ck_assert_str_eq(name, "safecopy");
    return refuses ? NULL : (nvtxDomainHandle_t)told;
}

static void fake_name_category(nvtxDomainHandle_t of, uint32_t category, const char *name)
{
    ck_assert_ptr_eq(of, told);
    ck_assert_uint_eq(category, ++categories);
    if (category == SC204 + 1)
        ck_assert_str_eq(name, "SC204 unordered-operations");
}

static void fake_mark(nvtxDomainHandle_t of, const nvtxEventAttributes_t *mark)
{
    ck_assert_ptr_eq(of, told);
    tell(mark->color == RED ? "red" : "orange", mark->payload.ullValue, mark->message.ascii);
}

static nvtxRangeId_t fake_start(nvtxDomainHandle_t of, const nvtxEventAttributes_t *range)
{
    static nvtxRangeId_t last;
    ck_assert_ptr_eq(of, told);
    ck_assert_uint_eq(range->category, categories);
    char *thread = strstr(range->message.ascii, ", thread ");
    ck_assert_ptr_nonnull(thread);
    *thread = '\0';
    tell("start", ++last, range->message.ascii);
    return last;
}

static void fake_end(nvtxDomainHandle_t of, nvtxRangeId_t id)
{
    ck_assert_ptr_eq(of, told);
    tell("end", id, "");
}

static void fake_name_stream(CUstream stream, const char *name)
{
    tell("stream", (uintptr_t)stream, name);
}

/* ---- what the module asks of others ---- */

__thread struct sc_current_call sc_current_call;
static unsigned entered;

bool sc_library_threads_start(void *(*function)(void *), size_t stack_bytes)
{
    ck_assert_uint_eq(stack_bytes, 0); /* a tool's code may want much */
    pthread_t thread;
    return pthread_create(&thread, NULL, function, NULL) == 0 && pthread_detach(thread) == 0;
}

void sc_library_threads_block_signals(void)
{
}

void sc_library_threads_unblock_signals(void)
{
}

void sc_library_threads_enter_driver(const char *name)
{
    ck_assert_str_eq(name, "safecopy-nvtx");
    entered++;
}

/* ---- tests; each is a process of its own ---- */

static void start(const char *tool)
{
    if (tool)
        setenv("NVTX_INJECTION64_PATH", tool, 1);
    else
        unsetenv("NVTX_INJECTION64_PATH");
    sc_nvtx_start();
}

static struct sc_hazard hazard(enum sc_hazard_code code)
{
    return (struct sc_hazard){
        .code = code,
        .certainty = SC_OBSERVED,
        .action = SC_ACTION_DEFERRED,
        .copy = {.api = "cuMemcpyHtoDAsync_v2", .runtime_api = "cudaMemcpyAsync"},
        .event = {.api = "free", .thread = 12, .time_ns = 345},
    };
}

static void mark_it(enum sc_hazard_code code)
{
    struct sc_hazard found = hazard(code);
    sc_nvtx_mark(&found);
}

START_TEST(a_hazard_is_a_mark)
{
    start("tool");
    mark_it(SC101);
    struct sc_hazard latent = hazard(SC204);
    latent.certainty = SC_LATENT;
    latent.action = SC_ACTION_ORDERED;
    latent.event.runtime_api = "cudaMemcpy";
    strcpy(latent.label, "step\n3");
    sc_nvtx_mark(&latent);
    sc_nvtx_stop();
    ck_assert_str_eq(told, "red 345 SC101 source-freed-in-flight: free against cudaMemcpyAsync, "
                           "observed, deferred, thread 12\n"
                           "orange 345 SC204 unordered-operations: cudaMemcpy against "
                           "cudaMemcpyAsync, latent, ordered, thread 12, in step\\u000a3\n");
    ck_assert_uint_eq(categories, SC_HAZARD_CODE_COUNT + 1);
}
END_TEST

START_TEST(a_stream_has_a_name)
{
    start("tool");
    sc_nvtx_name_stream((const void *)7, "ours");
    sc_nvtx_await();
    ck_assert_str_eq(told, "stream 7 ours\n");
}
END_TEST

START_TEST(a_stall_is_a_range)
{
    start("tool");
    sc_nvtx_stall_end(); /* nothing has begun */
    sc_nvtx_stall_begin("free");
    sc_nvtx_stall_end();
    sc_nvtx_stop();
    ck_assert_str_eq(told, "start 1 stalled: free\nend 1 \n");
}
END_TEST

START_TEST(a_thread_has_one_range)
{
    start("tool");
    sc_nvtx_stall_begin("free");
    sc_nvtx_stall_begin("munmap"); /* the first one was left by siglongjmp */
    sc_nvtx_stop();
    ck_assert_str_eq(told, "start 1 stalled: free\nend 1 \nstart 2 stalled: munmap\nend 2 \n");
}
END_TEST

static void *stall_to_unmap(void *unused)
{
    sc_nvtx_stall_begin("munmap");
    return unused;
}

START_TEST(threads_have_ranges_of_their_own)
{
    pthread_t other;
    start("tool");
    sc_nvtx_stall_begin("free");
    pthread_create(&other, NULL, stall_to_unmap, NULL);
    pthread_join(other, NULL);
    sc_nvtx_stall_end();
    sc_nvtx_stop();
    ck_assert_str_eq(told, "start 1 stalled: free\nstart 2 stalled: munmap\nend 1 \nend 2 \n");
}
END_TEST

START_TEST(what_finds_no_room_is_counted)
{
    start("tool");
    atomic_store(&holds_up, true);
    sc_nvtx_stall_begin("free");
    while (calls == 0)
        usleep(1000);
    for (unsigned i = 0; i < QUEUE_MAX + 3; i++)
        mark_it(SC101);
    ck_assert_uint_eq(shown.count, QUEUE_MAX);
    told[0] = '\0';
    atomic_store(&holds_up, false);
    sc_nvtx_stop();
    ck_assert_ptr_nonnull(strstr(told, "red 0 marks left out, see the report: 3\n"));
}
END_TEST

START_TEST(a_tool_that_stays_holds_nobody_up)
{
    start("tool");
    atomic_store(&holds_up, true);
    mark_it(SC101);
    sc_nvtx_await();
    mark_it(SC101);
    sc_nvtx_stop();
    mark_it(SC101);
    ck_assert_uint_eq(shown.count, 1);
}
END_TEST

static const char *const no_tools[] = {NULL, ""};

START_TEST(without_a_tool_nothing_is_kept)
{
    start(no_tools[_i]);
    mark_it(SC101);
    sc_nvtx_stall_begin("free");
    sc_nvtx_await();
    sc_nvtx_stop();
    ck_assert_uint_eq(shown.count + entered + created, 0);
}
END_TEST

START_TEST(the_option_turns_it_off)
{
    sc_options.nvtx = SC_NVTX_OFF;
    start("tool");
    mark_it(SC101);
    ck_assert_uint_eq(shown.count + entered + created, 0);
}
END_TEST

START_TEST(a_tool_that_refuses_is_asked_once)
{
    refuses = true;
    start("tool");
    mark_it(SC101);
    sc_nvtx_await();
    mark_it(SC101);
    sc_nvtx_stop();
    ck_assert_uint_eq(created, 1);
    ck_assert_str_eq(told, "");
}
END_TEST

START_TEST(the_tool_is_loaded_when_there_is_something_to_show)
{
    start("tool");
    sc_nvtx_await();
    sc_nvtx_stop();
    ck_assert_uint_eq(created + entered, 0);
}
END_TEST

START_TEST(a_child_shows_nothing)
{
    int status;
    start("tool");
    pid_t child = fork();
    if (child == 0) {
        sc_nvtx_child();
        mark_it(SC101);
        _exit(shown.count != 0);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    sc_nvtx_stop();
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("nvtx");
    TCase *tests = tcase_create("nvtx");
    tcase_add_test(tests, a_hazard_is_a_mark);
    tcase_add_test(tests, a_stream_has_a_name);
    tcase_add_test(tests, a_stall_is_a_range);
    tcase_add_test(tests, a_thread_has_one_range);
    tcase_add_test(tests, threads_have_ranges_of_their_own);
    tcase_add_test(tests, what_finds_no_room_is_counted);
    tcase_add_test(tests, a_tool_that_stays_holds_nobody_up);
    tcase_add_loop_test(tests, without_a_tool_nothing_is_kept, 0, 2);
    tcase_add_test(tests, the_option_turns_it_off);
    tcase_add_test(tests, a_tool_that_refuses_is_asked_once);
    tcase_add_test(tests, the_tool_is_loaded_when_there_is_something_to_show);
    tcase_add_test(tests, a_child_shows_nothing);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? 1 : 0;
}
