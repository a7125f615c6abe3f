/* The callbacks of CUPTI: who carried a call, how many there were, and what it was called. */
#include <check.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdlib.h>

#include "cupti_hooks/current_call.h"
#include "cupti_hooks/subscription.h"

#include "cupti_hooks/callbacks.c" /* poisons, so it comes last */
#include "cupti_hooks/resources.c"

enum { COPY = 277, QUERY = 200, THREADS = 8, ROUNDS = 20000 };

static __thread unsigned told;
static __thread unsigned news_told;
static __thread struct sc_news last_news;
static __thread struct sc_missed_call last;
static __thread bool carried_then;

static void note_missed(const struct sc_missed_call *call, bool entering)
{
    told++;
    last = *call;
    last.result = entering ? -1 : call->result;
    carried_then = sc_current_call_is_carried();
}

static void note_news(const struct sc_news *news)
{
    news_told++;
    last_news = *news;
    carried_then = sc_current_call_is_carried();
}

static uint64_t kept; /* by CUPTI, from a call's entry to its exit */

static void call_back(CUpti_CallbackDomain domain, uint32_t id, CUpti_ApiCallbackSite site,
                      const char *name, uint32_t correlation_id)
{
    int result = 3;
    CUpti_CallbackData data = {
        .callbackSite = site,
        .functionName = name,
        .functionParams = &data,
        .functionReturnValue = &result,
        .correlationData = &kept,
        .correlationId = correlation_id,
    };
    sc_callbacks_receive(NULL, domain, id, &data);
}

static void copy(uint32_t correlation_id)
{
    call_back(CUPTI_CB_DOMAIN_DRIVER_API, COPY, CUPTI_API_ENTER, "cuMemcpyHtoDAsync_v2",
              correlation_id);
    call_back(CUPTI_CB_DOMAIN_DRIVER_API, COPY, CUPTI_API_EXIT, "cuMemcpyHtoDAsync_v2",
              correlation_id);
}

static void set_up(void)
{
    sc_callbacks_start(note_missed);
    sc_resources_start(note_news);
    news_told = 0;
    sc_callbacks_audit(COPY);
    atomic_store(&sc_current_call_is_traced, true);
    told = 0;
    sc_current_call = (struct sc_current_call){0};
}

static void expect_counts(uint64_t wanted_wrapped, uint64_t wanted_missed)
{
    uint64_t wrapped, missed_calls;
    sc_callbacks_counts(&wrapped, &missed_calls);
    ck_assert_uint_eq(wrapped, wanted_wrapped);
    ck_assert_uint_eq(missed_calls, wanted_missed);
}

START_TEST(what_a_wrapper_carries_is_counted_and_nobody_is_told)
{
    SC_CARRY();
    copy(41);
    ck_assert_uint_eq(told, 0);
    ck_assert_uint_eq(sc_current_call_correlation_id(), 41);
    expect_counts(1, 0);
}
END_TEST

START_TEST(what_nobody_carries_is_a_miss_told_before_and_after)
{
    call_back(CUPTI_CB_DOMAIN_DRIVER_API, COPY, CUPTI_API_ENTER, "cuMemcpyHtoDAsync_v2", 7);
    ck_assert_uint_eq(told, 1);
    ck_assert_int_eq(last.result, -1);
    ck_assert(last.audited);
    ck_assert_uint_eq(last.id, COPY);
    ck_assert_uint_eq(last.correlation_id, 7);
    ck_assert_str_eq(last.name, "cuMemcpyHtoDAsync_v2");
    call_back(CUPTI_CB_DOMAIN_DRIVER_API, COPY, CUPTI_API_EXIT, "cuMemcpyHtoDAsync_v2", 7);
    ck_assert_uint_eq(told, 2);
    ck_assert_int_eq(last.result, 3);
    expect_counts(0, 1);
}
END_TEST

START_TEST(what_dealing_with_a_miss_calls_is_ours)
{
    copy(1);
    ck_assert(carried_then);
    ck_assert(!sc_current_call_is_carried());
}
END_TEST

START_TEST(what_is_only_followed_is_told_and_not_counted)
{
    call_back(CUPTI_CB_DOMAIN_DRIVER_API, QUERY, CUPTI_API_ENTER, "cuStreamQuery", 1);
    ck_assert_uint_eq(told, 1);
    ck_assert(!last.audited);
    expect_counts(0, 0);
}
END_TEST

static void carry_copy(uint32_t correlation_id)
{
    SC_CARRY();
    copy(correlation_id);
}

START_TEST(wrappers_nest)
{
    SC_CARRY();
    carry_copy(1);
    ck_assert(sc_current_call_is_carried());
    copy(2);
    ck_assert_uint_eq(told, 0);
    expect_counts(2, 0);
}
END_TEST

START_TEST(a_wrapper_starts_without_a_correlation_id)
{
    carry_copy(5);
    SC_CARRY();
    ck_assert_uint_eq(sc_current_call_correlation_id(), 0);
}
END_TEST

START_TEST(a_runtime_call_has_its_name_for_as_long_as_it_takes)
{
    ck_assert_ptr_null(sc_current_call_runtime_api());
    static const char name[] = "cudaMemcpyAsync";
    call_back(CUPTI_CB_DOMAIN_RUNTIME_API, 41, CUPTI_API_ENTER, name, 1);
    ck_assert_str_eq(sc_current_call_runtime_api(), name);
    call_back(CUPTI_CB_DOMAIN_RUNTIME_API, 41, CUPTI_API_EXIT, name, 1);
    ck_assert_ptr_null(sc_current_call_runtime_api());
}
END_TEST

/* Under their names, as a runtime calls them back: the names are constants. */
static void enter(const char *name, uint64_t *slot)
{
    call_back(CUPTI_CB_DOMAIN_RUNTIME_API, 41, CUPTI_API_ENTER, name, 1);
    *slot = kept;
}

static void leave(const char *name, uint64_t slot)
{
    kept = slot;
    call_back(CUPTI_CB_DOMAIN_RUNTIME_API, 41, CUPTI_API_EXIT, name, 1);
}

static const char outer_name[] = "cudaMemcpy2DAsync";
static const char inner_name[] = "cudaMalloc";

START_TEST(a_runtime_call_within_another_gives_the_name_back)
{
    uint64_t outer, inner;
    enter(outer_name, &outer);
    enter(inner_name, &inner);
    ck_assert_str_eq(sc_current_call_runtime_api(), inner_name);
    leave(inner_name, inner);
    ck_assert_str_eq(sc_current_call_runtime_api(), outer_name);
    leave(outer_name, outer);
    ck_assert_ptr_null(sc_current_call_runtime_api());
}
END_TEST

START_TEST(a_runtime_call_that_was_not_heard_to_begin_has_no_outer_name)
{
    leave(inner_name, 12345);
    ck_assert_ptr_null(sc_current_call_runtime_api());
}
END_TEST

START_TEST(a_name_that_was_left_by_a_jump_goes_with_the_next_call)
{
    uint64_t slot;
    enter(inner_name, &slot);
    enter(inner_name, &slot);
    leave(inner_name, slot);
    ck_assert_ptr_null(sc_current_call_runtime_api());
}
END_TEST

static sigjmp_buf back;

static __attribute__((noinline)) void carry_and_jump(void)
{
    SC_CARRY();
    copy(1);
    siglongjmp(back, 1);
}

START_TEST(what_a_wrapper_was_left_with_by_a_jump_carries_nothing)
{
    if (sigsetjmp(back, 0) == 0)
        carry_and_jump();
    copy(2);
    ck_assert_uint_eq(told, 2);
    expect_counts(1, 1);
    carry_copy(3);
    ck_assert_uint_eq(sc_current_call.carrying.place, 0);
    expect_counts(2, 1);
}
END_TEST

START_TEST(closed_ears_hear_nothing_and_know_no_names)
{
    call_back(CUPTI_CB_DOMAIN_RUNTIME_API, 41, CUPTI_API_ENTER, "cudaMemcpyAsync", 1);
    atomic_store(&sc_current_call_is_traced, false);
    copy(1);
    ck_assert_uint_eq(told, 0);
    ck_assert_ptr_null(sc_current_call_runtime_api());
    expect_counts(0, 0);
}
END_TEST

START_TEST(ids_beyond_the_table_are_not_audited)
{
    sc_callbacks_audit(SC_CBID_MAX);
    call_back(CUPTI_CB_DOMAIN_DRIVER_API, SC_CBID_MAX, CUPTI_API_ENTER, "cuMemcpyNew", 1);
    ck_assert_uint_eq(told, 1);
    ck_assert(!last.audited);
    expect_counts(0, 0);
}
END_TEST

START_TEST(names_decide_what_is_audited)
{
    static const char *const in[] = {"cuMemcpyHtoDAsync_v2", "cuMemcpyBatchAsync_v2_ptsz",
                                     "cuMemsetD2D32Async",   "cuMemFreeHost",
                                     "cuMemFreeAsync_ptsz",  "cuMemHostRegister_v2",
                                     "cuGraphLaunch_ptsz",   "cuStreamEndCapture"};
    static const char *const out[] = {"cuLaunchKernel", "cuStreamSynchronize", "cuMemGetInfo_v2",
                                      "cuMemHostGetFlags", "cuEventRecord"};
    for (size_t i = 0; i < sizeof in / sizeof *in; i++)
        ck_assert_msg(sc_callbacks_is_audited(in[i]), "%s", in[i]);
    for (size_t i = 0; i < sizeof out / sizeof *out; i++)
        ck_assert_msg(!sc_callbacks_is_audited(out[i]), "%s", out[i]);
    ck_assert(sc_callbacks_is_named("cudaMemcpyAsync_ptsz_v7000"));
    ck_assert(sc_callbacks_is_named("cudaFreeHost_v3020"));
    ck_assert(!sc_callbacks_is_named("cudaLaunchKernel_v7000"));
    ck_assert(!sc_callbacks_is_named("cudaEventQuery_v3020"));
}
END_TEST

/* ---- resources and waits ---- */

static void tell_of_stream(uint32_t id, uintptr_t stream)
{
    CUpti_ResourceData data = {.context = (CUcontext)0x100,
                               .resourceHandle.stream = (CUstream)stream};
    sc_callbacks_receive(NULL, CUPTI_CB_DOMAIN_RESOURCE, id, &data);
}

static void tell_of_graph(uint32_t id, uintptr_t graph, uintptr_t exec)
{
    CUpti_GraphData of = {.graph = (CUgraph)graph, .graphExec = (CUgraphExec)exec};
    CUpti_ResourceData data = {.resourceDescriptor = &of};
    sc_callbacks_receive(NULL, CUPTI_CB_DOMAIN_RESOURCE, id, &data);
}

static void tell_of_wait(uint32_t id, uintptr_t stream)
{
    CUpti_SynchronizeData data = {(CUcontext)0x100, (CUstream)stream};
    sc_callbacks_receive(NULL, CUPTI_CB_DOMAIN_SYNCHRONIZE, id, &data);
}

static void begin_call(void)
{
    call_back(CUPTI_CB_DOMAIN_DRIVER_API, QUERY, CUPTI_API_ENTER, "cuStreamQuery", 1);
}

static void end_call(void)
{
    call_back(CUPTI_CB_DOMAIN_DRIVER_API, QUERY, CUPTI_API_EXIT, "cuStreamQuery", 1);
}

static void expect_news(unsigned count, enum sc_news_kind kind, uintptr_t handle)
{
    ck_assert_uint_eq(news_told, count);
    ck_assert_int_eq(last_news.kind, kind);
    ck_assert_uint_eq(last_news.handle, handle);
    ck_assert(carried_then);
}

START_TEST(what_passes_by_is_news)
{
    tell_of_stream(CUPTI_CBID_RESOURCE_STREAM_CREATED, 0x10);
    expect_news(1, SC_NEWS_STREAM_NAMED, 0x10);
    tell_of_stream(CUPTI_CBID_RESOURCE_STREAM_DESTROY_STARTING, 0x20);
    expect_news(2, SC_NEWS_STREAM_ENDS, 0x20);
    tell_of_stream(CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING, 0);
    expect_news(3, SC_NEWS_CONTEXT_ENDS, 0x100);
    tell_of_wait(CUPTI_CBID_SYNCHRONIZE_STREAM_SYNCHRONIZED, 0x20);
    expect_news(4, SC_NEWS_STREAM_WAITED, 0x20);
    tell_of_wait(CUPTI_CBID_SYNCHRONIZE_CONTEXT_SYNCHRONIZED, 0);
    expect_news(5, SC_NEWS_CONTEXT_WAITED, 0x100);
    ck_assert(!sc_current_call_is_carried());
}
END_TEST

START_TEST(what_a_wrapper_carries_is_no_news_but_for_graphs)
{
    SC_CARRY();
    sc_current_call.correlation_id = 7;
    tell_of_stream(CUPTI_CBID_RESOURCE_STREAM_CREATED, 0x10);
    tell_of_stream(CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING, 0);
    tell_of_wait(CUPTI_CBID_SYNCHRONIZE_STREAM_SYNCHRONIZED, 0x20);
    ck_assert_uint_eq(news_told, 0);
    tell_of_graph(CUPTI_CBID_RESOURCE_GRAPH_DESTROY_STARTING, 0x30, 0);
    expect_news(1, SC_NEWS_GRAPH_ENDS, 0x30);
    tell_of_graph(CUPTI_CBID_RESOURCE_GRAPHEXEC_DESTROY_STARTING, 0x30, 0x40);
    expect_news(2, SC_NEWS_GRAPH_ENDS, 0x40);
    ck_assert_uint_eq(sc_current_call.correlation_id, 7);
}
END_TEST

START_TEST(what_is_followed_is_no_news_but_for_contexts)
{
    begin_call();
    tell_of_stream(CUPTI_CBID_RESOURCE_STREAM_CREATED, 0x10);
    tell_of_wait(CUPTI_CBID_SYNCHRONIZE_STREAM_SYNCHRONIZED, 0x20);
    ck_assert_uint_eq(news_told, 0);
    tell_of_stream(CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING, 0);
    expect_news(1, SC_NEWS_CONTEXT_ENDS, 0x100);
    end_call();
    tell_of_wait(CUPTI_CBID_SYNCHRONIZE_STREAM_SYNCHRONIZED, 0x20);
    expect_news(2, SC_NEWS_STREAM_WAITED, 0x20);
}
END_TEST

START_TEST(nothing_is_told_of_what_has_no_name)
{
    tell_of_wait(CUPTI_CBID_SYNCHRONIZE_STREAM_SYNCHRONIZED, 0);
    tell_of_graph(CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED, 0x30, 0);
    sc_callbacks_receive(NULL, CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_CU_INIT_FINISHED,
                         NULL);
    sc_callbacks_receive(NULL, CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_STREAM_CREATED, NULL);
    ck_assert_uint_eq(news_told, 0);
}
END_TEST

static unsigned enabled;

static void count_enabled(CUpti_CallbackDomain domain, uint32_t id)
{
    ck_assert(domain == CUPTI_CB_DOMAIN_RESOURCE || domain == CUPTI_CB_DOMAIN_SYNCHRONIZE);
    ck_assert(domain != CUPTI_CB_DOMAIN_RESOURCE || id != CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED);
    enabled++;
}

START_TEST(callbacks_that_come_for_each_node_stay_off)
{
    enabled = 0;
    sc_resources_each(count_enabled);
    ck_assert_uint_eq(enabled, 8);
}
END_TEST

static void *call_often(void *argument)
{
    for (unsigned i = 0; i < ROUNDS; i++) {
        if (argument)
            carry_copy(i);
        else
            copy(i);
    }
    return NULL;
}

START_TEST(many_threads_are_counted_exactly)
{
    pthread_t threads[THREADS];
    for (unsigned i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, call_often, i % 2 ? &threads : NULL), 0);
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    expect_counts(THREADS / 2 * ROUNDS, THREADS / 2 * ROUNDS);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("hear");
    TCase *tests = tcase_create("hear");
    tcase_set_timeout(tests, 60);
    tcase_add_checked_fixture(tests, set_up, NULL);
    tcase_add_test(tests, what_a_wrapper_carries_is_counted_and_nobody_is_told);
    tcase_add_test(tests, what_nobody_carries_is_a_miss_told_before_and_after);
    tcase_add_test(tests, what_dealing_with_a_miss_calls_is_ours);
    tcase_add_test(tests, what_is_only_followed_is_told_and_not_counted);
    tcase_add_test(tests, wrappers_nest);
    tcase_add_test(tests, a_wrapper_starts_without_a_correlation_id);
    tcase_add_test(tests, a_runtime_call_has_its_name_for_as_long_as_it_takes);
    tcase_add_test(tests, a_runtime_call_within_another_gives_the_name_back);
    tcase_add_test(tests, a_runtime_call_that_was_not_heard_to_begin_has_no_outer_name);
    tcase_add_test(tests, a_name_that_was_left_by_a_jump_goes_with_the_next_call);
    tcase_add_test(tests, what_a_wrapper_was_left_with_by_a_jump_carries_nothing);
    tcase_add_test(tests, closed_ears_hear_nothing_and_know_no_names);
    tcase_add_test(tests, ids_beyond_the_table_are_not_audited);
    tcase_add_test(tests, names_decide_what_is_audited);
    tcase_add_test(tests, what_passes_by_is_news);
    tcase_add_test(tests, what_a_wrapper_carries_is_no_news_but_for_graphs);
    tcase_add_test(tests, what_is_followed_is_no_news_but_for_contexts);
    tcase_add_test(tests, nothing_is_told_of_what_has_no_name);
    tcase_add_test(tests, callbacks_that_come_for_each_node_stay_off);
    tcase_add_test(tests, many_threads_are_counted_exactly);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
