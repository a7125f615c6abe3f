/* The timeline's buffers and what it remembers, with a libcupti of this file's. */
#include <check.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "cupti_hooks/timeline.c" /* poisons, so it comes last */

enum { AHEAD_NS = 1000000 /* of the fake's clock, behind CLOCK_MONOTONIC */ };

static struct {
    CUpti_BuffersCallbackRequestFunc requested;
    CUpti_BuffersCallbackCompleteFunc completed;
    unsigned on, enables, disables, flushes, forced;
    unsigned fails_at;   /* this enable */
    unsigned configured; /* counters of managed memory */
    bool counts_nothing; /* of managed memory */
    unsigned returns_at; /* this flush, the buffer */
    uint8_t *kept;
    size_t dropped;
} fake;

static unsigned starved;
static void *find_fake(void *library, const char *name);

static void starve(void)
{
    starved++;
}

static const struct sc_timeline_request copies = {.copies = true, .starves = starve};

static enum sc_cupti_state start_with(void *library, const struct sc_timeline_request *request)
{
    sc_timeline_start(library, find_fake, request);
    return sc_timeline_state();
}

static CUptiResult CUPTIAPI fake_register(CUpti_BuffersCallbackRequestFunc request_function,
                                          CUpti_BuffersCallbackCompleteFunc complete_function)
{
    fake.requested = request_function;
    fake.completed = complete_function;
    return CUPTI_SUCCESS;
}

static CUptiResult CUPTIAPI fake_enable(CUpti_ActivityKind kind)
{
    if (++fake.enables == fake.fails_at)
        return CUPTI_ERROR_NOT_COMPATIBLE;
    fake.on |= 1u << kind;
    return CUPTI_SUCCESS;
}

static CUptiResult CUPTIAPI fake_configure(CUpti_ActivityUnifiedMemoryCounterConfig *all,
                                           uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        fake.configured |= all[i].enable << all[i].kind;
    return fake.counts_nothing ? CUPTI_ERROR_UM_PROFILING_NOT_SUPPORTED : CUPTI_SUCCESS;
}

static CUptiResult CUPTIAPI fake_string(CUptiResult result, const char **text)
{
    *text = result == CUPTI_ERROR_UM_PROFILING_NOT_SUPPORTED ? "no" : "?";
    return CUPTI_SUCCESS;
}

static CUptiResult CUPTIAPI fake_disable(CUpti_ActivityKind kind)
{
    fake.disables++;
    fake.on &= ~(1u << kind);
    return CUPTI_SUCCESS;
}

static CUptiResult CUPTIAPI fake_flush(uint32_t flag)
{
    fake.flushes++;
    fake.forced += flag != 0;
    if (fake.kept && fake.flushes == fake.returns_at)
        fake.completed(NULL, 0, fake.kept, BUFFER_BYTES, 0);
    return CUPTI_SUCCESS;
}

static CUptiResult CUPTIAPI fake_next(uint8_t *buffer, size_t valid, CUpti_Activity **record)
{
    uint8_t *next = *record ? (uint8_t *)*record + sizeof(CUpti_ActivityMemcpy6) : buffer;
    *record = (CUpti_Activity *)(void *)next;
    return next < buffer + valid ? CUPTI_SUCCESS : CUPTI_ERROR_MAX_LIMIT_REACHED;
}

static CUptiResult CUPTIAPI fake_dropped(CUcontext context, uint32_t stream, size_t *count)
{
    (void)context, (void)stream;
    *count = fake.dropped;
    fake.dropped = 0;
    return CUPTI_SUCCESS;
}

static CUptiResult CUPTIAPI fake_timestamp(uint64_t *now)
{
    *now = sc_now_ns() - AHEAD_NS;
    return CUPTI_SUCCESS;
}

static void *find_fake(void *library, const char *name)
{
    static const struct {
        const char *name;
        void *function;
    } functions[] = {
        {"cuptiActivityRegisterCallbacks", (void *)fake_register},
        {"cuptiActivityEnable", (void *)fake_enable},
        {"cuptiActivityDisable", (void *)fake_disable},
        {"cuptiActivityFlushAll", (void *)fake_flush},
        {"cuptiActivityGetNextRecord", (void *)fake_next},
        {"cuptiActivityGetNumDroppedRecords", (void *)fake_dropped},
        {"cuptiGetTimestamp", (void *)fake_timestamp},
        {"cuptiActivityConfigureUnifiedMemoryCounter", (void *)fake_configure},
        {"cuptiGetResultString", (void *)fake_string},
    };
    for (size_t i = 0; library && i < sizeof functions / sizeof *functions; i++)
        if (strcmp(functions[i].name, name) == 0)
            return functions[i].function;
    return NULL;
}

static void start(void)
{
    ck_assert_int_eq(start_with(&fake, &copies), SC_CUPTI_LISTENING);
}

static uint8_t *ask_for_buffer(void)
{
    uint8_t *buffer = NULL;
    size_t size = 1, most = 1;
    fake.requested(&buffer, &size, &most);
    ck_assert_uint_eq(size, buffer ? BUFFER_BYTES : 0);
    ck_assert_uint_eq(most, 0);
    return buffer;
}

static void bring(uint32_t id, uint64_t from, uint64_t to)
{
    uint8_t *buffer = ask_for_buffer();
    *(CUpti_ActivityMemcpy6 *)(void *)buffer = (CUpti_ActivityMemcpy6){
        .kind = CUPTI_ACTIVITY_KIND_MEMCPY, .correlationId = id, .start = from, .end = to};
    fake.completed(NULL, 0, buffer, BUFFER_BYTES, sizeof(CUpti_ActivityMemcpy6));
}

static struct sc_timeline_counts counts(void)
{
    struct sc_timeline_counts now;
    sc_timeline_get_counts(&now);
    return now;
}

static void expect(uint32_t id, uint64_t from, uint64_t to)
{
    struct sc_device_times times;
    ck_assert(sc_timeline_find(id, &times));
    ck_assert_uint_eq(times.end_ns - times.start_ns, to - from);
    ck_assert_int_lt(llabs((int64_t)(times.start_ns - from - AHEAD_NS)), 100000);
}

START_TEST(records_are_found_in_the_hosts_time)
{
    struct sc_device_times times;
    ck_assert(!sc_timeline_find(7, &times));
    start();
    ck_assert(!sc_timeline_find(7, &times));
    bring(7, 5000, 6000);
    expect(7, 5000, 6000);
    ck_assert(!sc_timeline_find(8, &times));
    ck_assert(!sc_timeline_find(0, &times));
    ck_assert_uint_eq(counts().records, 1);
}
END_TEST

START_TEST(records_of_one_call_are_one_span)
{
    start();
    bring(7, 5000, 6000);
    bring(7, 8000, 9000);
    bring(7, 4000, 4500);
    expect(7, 4000, 9000);
}
END_TEST

START_TEST(memsets_are_records_and_other_kinds_are_not)
{
    struct sc_device_times times;
    start();
    uint8_t *buffer = ask_for_buffer();
    CUpti_ActivityMemcpy6 *at = (void *)buffer;
    *(CUpti_ActivityMemset4 *)(void *)&at[0] = (CUpti_ActivityMemset4){
        .kind = CUPTI_ACTIVITY_KIND_MEMSET, .correlationId = 3, .start = 10, .end = 20};
    at[1] = (CUpti_ActivityMemcpy6){
        .kind = CUPTI_ACTIVITY_KIND_KERNEL, .correlationId = 4, .start = 10, .end = 20};
    fake.completed(NULL, 0, buffer, BUFFER_BYTES, 2 * sizeof *at);
    expect(3, 10, 20);
    ck_assert(!sc_timeline_find(4, &times));
}
END_TEST

START_TEST(a_record_without_times_is_a_dropped_one)
{
    struct sc_device_times times;
    start();
    bring(7, 0, 0);
    ck_assert(!sc_timeline_find(7, &times));
    ck_assert_uint_eq(counts().dropped, 1);
    fake.dropped = 5;
    sc_timeline_flush(false);
    sc_timeline_flush(false);
    ck_assert_uint_eq(counts().dropped, 6);
}
END_TEST

START_TEST(only_the_latest_calls_are_remembered)
{
    struct sc_device_times times;
    start();
    bring(1, 10, 20);
    bring(1 + REMEMBERED, 30, 40);
    ck_assert(!sc_timeline_find(1, &times));
    expect(1 + REMEMBERED, 30, 40);
}
END_TEST

START_TEST(buffers_are_bounded_and_come_back)
{
    static uint8_t *buffers[BUFFERS];
    start();
    for (unsigned i = 0; i < BUFFERS; i++) {
        ck_assert_int_eq(sc_timeline_lacks_buffers(), i >= BUFFERS / 2);
        ck_assert_ptr_nonnull(buffers[i] = ask_for_buffer());
        memset(buffers[i], (int)i, BUFFER_BYTES);
    }
    ck_assert_uint_eq(starved, 1);
    ck_assert_ptr_null(ask_for_buffer());
    for (unsigned i = 0; i < BUFFERS; i++) {
        ck_assert_uint_eq(buffers[i][0], i % 256);
        ck_assert_uint_eq(buffers[i][BUFFER_BYTES - 1], i % 256);
    }
    fake.completed(NULL, 0, buffers[9], BUFFER_BYTES, 0);
    ck_assert_ptr_eq(ask_for_buffer(), buffers[9]);
    for (unsigned i = 0; i < BUFFERS; i++)
        fake.completed(NULL, 0, buffers[i], BUFFER_BYTES, 0);
    ck_assert(!sc_timeline_lacks_buffers());
}
END_TEST

START_TEST(a_buffer_that_is_not_ours_is_left_alone)
{
    static uint8_t foreign[64];
    start();
    fake.completed(NULL, 0, foreign, sizeof foreign, sizeof foreign);
    ck_assert_uint_eq(counts().records + counts().dropped, 0);
}
END_TEST

START_TEST(a_tool_finds_everything_off_and_taken_back)
{
    start();
    ck_assert_uint_eq(fake.on, 1u << CUPTI_ACTIVITY_KIND_MEMCPY | 1u << CUPTI_ACTIVITY_KIND_MEMSET);
    ck_assert(sc_timeline_yield());
    ck_assert_uint_eq(fake.on, 0);
    ck_assert_uint_eq(fake.forced, 1);
    ck_assert_ptr_null(ask_for_buffer());
    ck_assert_int_eq(sc_timeline_state(), SC_CUPTI_YIELDED);
    ck_assert(!sc_timeline_yield());
    sc_timeline_flush(true);
    ck_assert_uint_eq(fake.flushes, 1);
}
END_TEST

START_TEST(a_tool_that_comes_gets_no_buffer_that_was_just_given_out)
{
    start();
    fake.kept = ask_for_buffer();
    fake.returns_at = 3;
    ck_assert(sc_timeline_yield());
    ck_assert_uint_ge(fake.flushes, fake.returns_at);
    ck_assert_uint_eq(fake.flushes, fake.forced);
}
END_TEST

START_TEST(where_a_tool_was_first_nothing_is_registered)
{
    ck_assert(!sc_timeline_yield());
    ck_assert_int_eq(start_with(&fake, &copies), SC_CUPTI_HELD);
    ck_assert_ptr_null((void *)fake.requested);
    ck_assert_uint_eq(fake.flushes + fake.disables, 0);
}
END_TEST

START_TEST(what_cannot_be_had_leaves_nothing_on)
{
    ck_assert_int_eq(start_with(NULL, &copies), SC_CUPTI_TOO_OLD);
    fake.fails_at = 2;
    ck_assert_int_eq(start_with(&fake, &copies), SC_CUPTI_FAILED);
    ck_assert_uint_eq(fake.on, 0);
    ck_assert_ptr_null(ask_for_buffer());
}
END_TEST

START_TEST(at_the_end_and_in_a_child_cupti_is_not_called)
{
    start();
    bring(7, 10, 20);
    sc_timeline_stop();
    ck_assert_ptr_null(ask_for_buffer());
    expect(7, 10, 20);
    ck_assert_uint_ne(fake.on, 0);
    sc_timeline_child();
    ck_assert(!sc_timeline_yield());
    sc_timeline_flush(true);
    ck_assert_uint_eq(fake.flushes + fake.disables, 0);
}
END_TEST

static void *bring_many(void *first)
{
    for (uint32_t i = 0; i < 2000; i++)
        bring(*(uint32_t *)first + i, 1000 + i, 2000 + i);
    return NULL;
}

START_TEST(threads_bring_records_at_once)
{
    pthread_t threads[8];
    uint32_t first[8];
    start();
    for (unsigned i = 0; i < 8; i++) {
        first[i] = 1 + 2000 * i;
        ck_assert_int_eq(pthread_create(&threads[i], NULL, bring_many, &first[i]), 0);
    }
    for (unsigned i = 0; i < 8; i++)
        pthread_join(threads[i], NULL);
    ck_assert_uint_eq(counts().records, 16000);
    for (uint32_t id = 1; id <= 16000; id += 777)
        expect(id, 1000 + (id - 1) % 2000, 2000 + (id - 1) % 2000);
}
END_TEST

static struct sc_managed_news heard;
static unsigned heard_count;

static void hear_managed(const struct sc_managed_news *news)
{
    heard = *news;
    heard_count++;
}

static const struct sc_timeline_request managed = {.starves = starve, .managed = hear_managed};
static const struct sc_timeline_request both = {true, starve, hear_managed};

static void bring_managed(CUpti_ActivityUnifiedMemoryCounterKind kind, uint32_t flags)
{
    uint8_t *buffer = ask_for_buffer();
    *(CUpti_ActivityUnifiedMemoryCounter3 *)(void *)buffer =
        (CUpti_ActivityUnifiedMemoryCounter3){.kind = CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER,
                                              .counterKind = kind,
                                              .value = 4096,
                                              .address = 0x10000,
                                              .srcId = 1,
                                              .dstId = 2,
                                              .flags = flags};
    fake.completed(NULL, 0, buffer, BUFFER_BYTES, sizeof(CUpti_ActivityMemcpy6));
}

START_TEST(records_of_managed_memory_are_told)
{
    sc_timeline_start(&fake, find_fake, &managed);
    ck_assert_int_eq(sc_timeline_managed_state(), SC_CUPTI_LISTENING);
    ck_assert_int_eq(sc_timeline_state(), SC_CUPTI_UNUSED);
    ck_assert_uint_eq(fake.configured, 0x1fe); /* the eight kinds that there are */
    ck_assert_uint_eq(fake.on, 1u << CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER);
    bring_managed(CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_GPU_PAGE_FAULT, 4);
    ck_assert_uint_eq(heard_count, 1);
    ck_assert_int_eq(heard.kind, SC_MANAGED_FAULT);
    ck_assert_uint_eq(heard.address, 0x10000);
    ck_assert_uint_eq(heard.value, 4096);
    ck_assert_uint_eq(heard.from, 1);
    ck_assert_uint_eq(heard.to, 2);
    ck_assert(!heard.is_eviction);
    bring_managed(CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_DTOH,
                  CUPTI_ACTIVITY_UNIFIED_MEMORY_MIGRATION_CAUSE_EVICTION);
    ck_assert(heard.is_eviction);
    bring_managed(CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_DTOH,
                  CUPTI_ACTIVITY_UNIFIED_MEMORY_MIGRATION_CAUSE_COHERENCE);
    ck_assert(!heard.is_eviction);
    ck_assert(sc_timeline_yield());
    ck_assert_uint_eq(fake.on, 0);
    ck_assert_int_eq(sc_timeline_managed_state(), SC_CUPTI_YIELDED);
    ck_assert_int_eq(sc_timeline_state(), SC_CUPTI_UNUSED);
}
END_TEST

START_TEST(where_nothing_is_counted_copies_are_recorded_all_the_same)
{
    fake.counts_nothing = true;
    sc_timeline_start(&fake, find_fake, &both);
    ck_assert_int_eq(sc_timeline_managed_state(), SC_CUPTI_FAILED);
    ck_assert_str_eq(sc_timeline_managed_detail(), "no");
    ck_assert_int_eq(sc_timeline_state(), SC_CUPTI_LISTENING);
    ck_assert_uint_eq(fake.on, 1u << CUPTI_ACTIVITY_KIND_MEMCPY | 1u << CUPTI_ACTIVITY_KIND_MEMSET);
    bring(7, 5000, 6000);
    expect(7, 5000, 6000);
}
END_TEST

START_TEST(where_copies_are_not_recorded_managed_memory_is_counted_all_the_same)
{
    fake.fails_at = 2;
    sc_timeline_start(&fake, find_fake, &both);
    ck_assert_int_eq(sc_timeline_state(), SC_CUPTI_FAILED);
    ck_assert_int_eq(sc_timeline_managed_state(), SC_CUPTI_LISTENING);
    ck_assert_uint_eq(fake.on, 1u << CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER);
    bring_managed(CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_GPU_PAGE_FAULT, 4);
    ck_assert_uint_eq(heard_count, 1);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("timeline");
    TCase *tests = tcase_create("timeline");
    tcase_add_test(tests, records_are_found_in_the_hosts_time);
    tcase_add_test(tests, records_of_one_call_are_one_span);
    tcase_add_test(tests, memsets_are_records_and_other_kinds_are_not);
    tcase_add_test(tests, a_record_without_times_is_a_dropped_one);
    tcase_add_test(tests, only_the_latest_calls_are_remembered);
    tcase_add_test(tests, buffers_are_bounded_and_come_back);
    tcase_add_test(tests, a_buffer_that_is_not_ours_is_left_alone);
    tcase_add_test(tests, a_tool_finds_everything_off_and_taken_back);
    tcase_add_test(tests, a_tool_that_comes_gets_no_buffer_that_was_just_given_out);
    tcase_add_test(tests, where_a_tool_was_first_nothing_is_registered);
    tcase_add_test(tests, what_cannot_be_had_leaves_nothing_on);
    tcase_add_test(tests, at_the_end_and_in_a_child_cupti_is_not_called);
    tcase_add_test(tests, records_of_managed_memory_are_told);
    tcase_add_test(tests, where_nothing_is_counted_copies_are_recorded_all_the_same);
    tcase_add_test(tests, where_copies_are_not_recorded_managed_memory_is_counted_all_the_same);
    tcase_add_test(tests, threads_bring_records_at_once);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
