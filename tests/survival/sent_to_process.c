// expect-exit: 0
// timeout: 120
//
// A signal that is sent to the process is the main thread's where that lets it in, whatever other
// threads there are, also where it interrupts reads beside results that are still to come. Where
// the main thread blocks it, it is another one's.
#include "signals.h"

enum { BLOCKS = 4 << 20, PAGES = 16, RESULT = 2048, ROUNDS = 8, SIGNALS = 10 };

static unsigned char *pages; /* in each a result of RESULT bytes, and ones behind it */
static pthread_t main_thread;
static _Atomic bool stops, reads;
static _Atomic int sent, come, elsewhere, misinformed;
static _Atomic int seen; /* as many have come, and no handler of theirs runs on the main thread */

static int sum(void)
{
    int result = 0;
    for (int i = 0; i < PAGES; i++)
        result += *(volatile unsigned char *)(pages + i * PAGE + RESULT + 99);
    return result;
}

/* Of memory with a past fewer pages are guarded. */
static int read_beside(void)
{
    int wrong = 0;
    CHECK(cudaMallocHost((void **)&pages, BLOCKS));
    memset(pages, 1, PAGES * PAGE);
    hold_stream(beside.stream);
    for (int i = 0; i < PAGES; i++)
        CHECK(cudaMemcpyAsync(pages + i * PAGE, beside.device, RESULT, cudaMemcpyDeviceToHost,
                              beside.stream));
    atomic_store(&reads, true);
    for (int before = come; come - before < SIGNALS; atomic_store(&seen, atomic_load(&come)))
        wrong += sum() != PAGES;
    atomic_store(&reads, false);
    let_go();
    CHECK(cudaStreamSynchronize(beside.stream));
    CHECK(cudaFreeHost(pages));
    return wrong;
}

static void *send(void *unused)
{
    (void)unused;
    while (!atomic_load(&stops)) {
        if (!atomic_load(&reads) || atomic_load(&sent) != atomic_load(&seen))
            continue;
        atomic_fetch_add(&sent, 1);
        kill(getpid(), SIGUSR1);
    }
    return NULL;
}

static void on_signal(int number, siginfo_t *info, void *context)
{
    (void)context;
    if (info->si_signo != number || info->si_code != SI_USER || info->si_errno != 0 ||
        info->si_pid != getpid())
        atomic_fetch_add(&misinformed, 1);
    atomic_fetch_add(&elsewhere, !pthread_equal(pthread_self(), main_thread));
    atomic_fetch_add(&come, 1);
}

/* The thread that sends them lets them in. */
static void read_with_signals(const char *name, sigset_t mask)
{
    pthread_t sender;
    int wrong = 0;
    stops = false;
    sent = come = elsewhere = seen = 0;
    CHECK(pthread_create(&sender, NULL, send, NULL));
    set_mask(mask);
    for (int i = 0; i < ROUNDS; i++)
        wrong += read_beside();
    stops = true;
    pthread_join(sender, NULL);
    set_mask(only(0));
    while (sent != come)
        usleep(1000);
    printf("%s: %d wrong, the main thread's: %s\n", name, wrong,
           elsewhere == 0      ? "all"
           : elsewhere == sent ? "none"
                               : "some");
}

int main(void)
{
    edge_start();
    main_thread = pthread_self();
    handle_info(SIGUSR1, on_signal, SA_RESTART, only(0));
    read_with_signals("let in", only(0));
    read_with_signals("blocked", only(SIGUSR1));
    printf("%d are not said to be of kill\n", (int)misinformed);
    return 0;
}
