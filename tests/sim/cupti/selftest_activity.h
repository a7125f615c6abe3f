/* Activity records: what is in them, when they come, and whose they are. */
#ifndef SELFTEST_ACTIVITY_H
#define SELFTEST_ACTIVITY_H

#include <pthread.h>
#include <stdatomic.h>

static struct {
    __typeof__(&cuptiActivityRegisterCallbacks) take;
    __typeof__(&cuptiActivityEnable) enable;
    __typeof__(&cuptiActivityDisable) disable;
    __typeof__(&cuptiActivityFlushAll) flush;
    __typeof__(&cuptiActivityGetNextRecord) next;
    __typeof__(&cuptiActivityGetNumDroppedRecords) dropped;
    __typeof__(&cuptiGetTimestamp) timestamp;
} activity;

static void load_activity(void)
{
    void *library = dlopen("libcupti.so.13", RTLD_NOW);
    CHECK(library);
    *(void **)&activity.take = dlsym(library, "cuptiActivityRegisterCallbacks");
    *(void **)&activity.enable = dlsym(library, "cuptiActivityEnable");
    *(void **)&activity.disable = dlsym(library, "cuptiActivityDisable");
    *(void **)&activity.flush = dlsym(library, "cuptiActivityFlushAll");
    *(void **)&activity.next = dlsym(library, "cuptiActivityGetNextRecord");
    *(void **)&activity.dropped = dlsym(library, "cuptiActivityGetNumDroppedRecords");
    *(void **)&activity.timestamp = dlsym(library, "cuptiGetTimestamp");
    CHECK(activity.take && activity.enable && activity.disable && activity.flush && activity.next);
    CHECK(activity.dropped && activity.timestamp);
}

enum { ACTIVITY_BUFFER = 1024 }; /* ten copies */

static struct {
    unsigned requested, completed, copies, memsets, incomplete;
    int refuses;
    pthread_t asker, deliverer;
    CUpti_ActivityMemcpy6 last;
} delivered;

static void CUPTIAPI give_activity_buffer(uint8_t **buffer, size_t *size, size_t *most)
{
    *buffer = delivered.refuses ? NULL : malloc(ACTIVITY_BUFFER);
    *size = ACTIVITY_BUFFER;
    *most = 0;
    delivered.asker = pthread_self();
    delivered.requested += *buffer != NULL;
}

static void CUPTIAPI take_activity_buffer(CUcontext context, uint32_t stream, uint8_t *buffer,
                                          size_t size, size_t valid)
{
    CUpti_Activity *record = NULL;
    (void)context, (void)stream;
    CHECK(size == ACTIVITY_BUFFER && valid <= size);
    delivered.completed++;
    delivered.deliverer = pthread_self();
    while (activity.next(buffer, valid, &record) == CUPTI_SUCCESS) {
        if (record->kind == CUPTI_ACTIVITY_KIND_MEMSET) {
            delivered.memsets++;
            continue;
        }
        delivered.last = *(CUpti_ActivityMemcpy6 *)(void *)record;
        delivered.copies++;
        delivered.incomplete += delivered.last.end == 0;
    }
    free(buffer);
}

static void CUPTIAPI refuse_activity_buffer(uint8_t **buffer, size_t *size, size_t *most)
{
    CHECK(!"the first client is asked again");
    (void)buffer, (void)size, (void)most;
}

/* The record is there a moment after the copy can be known to be complete. */
static void flush_until(const unsigned *count, unsigned wanted)
{
    for (int i = 0; *count < wanted && i < 100000; i++)
        CHECK(activity.flush(0) == CUPTI_SUCCESS);
    CHECK(*count == wanted);
}

static void test_records(void *device, void *host)
{
    CUpti_SubscriberHandle subscriber;
    uint64_t before, after;
    memset(&delivered, 0, sizeof delivered);
    CHECK(cupti.subscribe(&subscriber, hear, &seen) == CUPTI_SUCCESS);
    CHECK(cupti.enable_callback(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API,
                                CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoDAsync_v2) == CUPTI_SUCCESS);
    CHECK(activity.take(give_activity_buffer, take_activity_buffer) == CUPTI_SUCCESS);
    CHECK(activity.enable(CUPTI_ACTIVITY_KIND_MEMCPY) == CUPTI_SUCCESS);
    activity.timestamp(&before);
    CHECK(cudaMemcpyAsync(device, host, 64, cudaMemcpyHostToDevice, 0) == cudaSuccess);
    CHECK(cudaMemset(device, 0, 16) == cudaSuccess);
    CHECK(cudaStreamSynchronize(0) == cudaSuccess);
    flush_until(&delivered.copies, 1);
    activity.timestamp(&after);
    CHECK(delivered.memsets == 0 && delivered.requested == 1 && delivered.completed == 1);
    CHECK(delivered.last.correlationId == seen[CUPTI_CB_DOMAIN_DRIVER_API].id);
    CHECK(delivered.last.bytes == 64 && delivered.last.copyCount == 1);
    CHECK(before <= delivered.last.start && delivered.last.start <= delivered.last.end);
    CHECK(delivered.last.end <= after);
    CHECK(pthread_equal(delivered.asker, pthread_self()));
    CHECK(!pthread_equal(delivered.deliverer, pthread_self()));
    CHECK(cupti.unsubscribe(subscriber) == CUPTI_SUCCESS);
}

static void CUDART_CB wait_for_flag(void *flag)
{
    while (!atomic_load((_Atomic int *)flag))
        continue;
}

/* One incomplete record keeps its buffer back, unless by force, and is lost then. */
static void test_incomplete_records(void *device, void *host)
{
    _Atomic int flag = 0;
    size_t dropped = 1;
    memset(&delivered, 0, sizeof delivered);
    CHECK(cudaMemcpyAsync(device, host, 64, cudaMemcpyHostToDevice, 0) == cudaSuccess);
    CHECK(cudaStreamSynchronize(0) == cudaSuccess);
    CHECK(cudaLaunchHostFunc(0, wait_for_flag, &flag) == cudaSuccess);
    CHECK(cudaMemcpyAsync(device, host, 64, cudaMemcpyHostToDevice, 0) == cudaSuccess);
    CHECK(activity.flush(0) == CUPTI_SUCCESS);
    CHECK(delivered.completed == 0);
    CHECK(activity.flush(1) == CUPTI_SUCCESS);
    CHECK(delivered.completed == 1 && delivered.copies == 2 && delivered.incomplete >= 1);
    atomic_store(&flag, 1);
    CHECK(cudaStreamSynchronize(0) == cudaSuccess);
    CHECK(activity.flush(1) == CUPTI_SUCCESS);
    CHECK(delivered.copies == 2);
    CHECK(activity.dropped(NULL, 0, &dropped) == CUPTI_SUCCESS && dropped == 0);
}

static void test_dropped_records(void *device, void *host)
{
    size_t dropped = 0;
    memset(&delivered, 0, sizeof delivered);
    delivered.refuses = 1;
    for (int i = 0; i < 5; i++)
        CHECK(cudaMemcpy(device, host, 64, cudaMemcpyHostToDevice) == cudaSuccess);
    CHECK(activity.dropped(NULL, 0, &dropped) == CUPTI_SUCCESS && dropped == 5);
    CHECK(activity.dropped(NULL, 0, &dropped) == CUPTI_SUCCESS && dropped == 0);
    delivered.refuses = 0;
    for (int i = 0; i < 25; i++)
        CHECK(cudaMemcpy(device, host, 64, cudaMemcpyHostToDevice) == cudaSuccess);
    flush_until(&delivered.copies, 25);
    CHECK(delivered.requested == 3 && delivered.completed == 3);
}

/* Who registers last has it all; a kind is off for everybody. */
static void test_two_clients(void *device, void *host)
{
    memset(&delivered, 0, sizeof delivered);
    CHECK(activity.take(refuse_activity_buffer, take_activity_buffer) == CUPTI_SUCCESS);
    CHECK(activity.take(give_activity_buffer, take_activity_buffer) == CUPTI_SUCCESS);
    CHECK(cudaMemcpy(device, host, 64, cudaMemcpyHostToDevice) == cudaSuccess);
    flush_until(&delivered.copies, 1);
    CHECK(activity.disable(CUPTI_ACTIVITY_KIND_MEMCPY) == CUPTI_SUCCESS);
    CHECK(cudaMemcpy(device, host, 64, cudaMemcpyHostToDevice) == cudaSuccess);
    CHECK(activity.flush(1) == CUPTI_SUCCESS);
    CHECK(delivered.copies == 1);
}

static void test_activity(void *device, void *host)
{
    load_activity();
    test_records(device, host);
    test_incomplete_records(device, host);
    test_dropped_records(device, host);
    test_two_clients(device, host);
}

#endif
