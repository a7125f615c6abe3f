// expect-exit: 0
// needs: sim
//
// Threads that are to be cancelled make calls of CUDA, on their own stacks and in coroutines on
// small ones: no such call is a cancellation point, and they are cancelled where they ask for it.
// (Whether a real driver's calls are none is not known.)
#include "survival.h"

#include <pthread.h>
#include <ucontext.h>

enum { BYTES = 1 << 16, PART = BYTES - 100, SMALL_STACK = 16 << 10, THREADS = 48 };

static void *device;
static const char *doing = "nothing"; /* by the one thread that runs */

#define DO(call)                                                                                   \
    do {                                                                                           \
        doing = #call;                                                                             \
        CHECK(call);                                                                               \
    } while (0)

static void use_streams(void)
{
    cudaStream_t stream;
    cudaEvent_t event;
    char *pinned;
    DO(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    DO(cudaEventCreate(&event));
    DO(cudaMallocHost((void **)&pinned, BYTES));
    memset(pinned, 1, BYTES);
    DO(cudaMemcpyAsync(device, pinned, PART, cudaMemcpyHostToDevice, stream));
    DO(cudaMemcpyAsync(pinned, device, PART, cudaMemcpyDeviceToHost, stream));
    doing = "a touch beside a copy";
    pinned[BYTES - 1] = 2;
    DO(cudaEventRecord(event, stream));
    DO(cudaEventSynchronize(event));
    DO(cudaFreeHost(pinned));
    DO(cudaEventDestroy(event));
    DO(cudaStreamDestroy(stream));
}

static void use_graph(void)
{
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    char local[64] = "";
    DO(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    DO(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    DO(cudaMemcpyAsync(device, local, sizeof local, cudaMemcpyHostToDevice, stream));
    DO(cudaStreamEndCapture(stream, &graph));
    DO(cudaGraphInstantiate(&exec, graph, 0));
    DO(cudaGraphLaunch(exec, stream));
    DO(cudaStreamSynchronize(stream));
    DO(cudaGraphExecDestroy(exec));
    DO(cudaGraphDestroy(graph));
    DO(cudaStreamDestroy(stream));
}

static void use_all(void)
{
    use_streams();
    use_graph();
}

static void in_coroutine(void)
{
    ucontext_t outside, inside;
    void *stack = malloc(SMALL_STACK);
    CHECK(getcontext(&inside));
    inside.uc_stack.ss_sp = stack;
    inside.uc_stack.ss_size = SMALL_STACK;
    inside.uc_link = &outside;
    makecontext(&inside, use_streams, 0);
    CHECK(swapcontext(&outside, &inside));
    free(stack);
}

static void say_where(void *unused)
{
    (void)unused;
    if (strcmp(doing, "pthread_testcancel()") != 0)
        printf("cancelled in %s\n", doing);
}

static void *run(void *function)
{
    pthread_cleanup_push(say_where, NULL);
    CHECK(pthread_cancel(pthread_self()));
    ((void (*)(void))(uintptr_t)function)();
    doing = "pthread_testcancel()";
    pthread_testcancel();
    pthread_cleanup_pop(0);
    return NULL;
}

static void run_threads(const char *what, void (*function)(void))
{
    int cancelled = 0;
    for (int i = 0; i < THREADS; i++) {
        pthread_t thread;
        void *result = NULL;
        CHECK(pthread_create(&thread, NULL, run, (void *)(uintptr_t)function));
        CHECK(pthread_join(thread, &result));
        cancelled += result == PTHREAD_CANCELED;
    }
    printf("%s: %d cancelled\n", what, cancelled);
}

int main(void)
{
    CHECK(cudaMalloc(&device, BYTES));
    run_threads("on their own stacks", use_all);
    run_threads("in coroutines", in_coroutine);
    return 0;
}
