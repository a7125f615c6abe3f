// timeout: 300
// cflags: -fno-builtin-malloc -fno-builtin-free
/* Random programs through the whole library (random_program.h), on the simulated GPU:
 *
 *   LD_LIBRARY_PATH=out/sim LD_PRELOAD=out/libsafecopy.so out/tests/fuzz/random_programs [N [SEED]]
 *
 * N programs, in turn in both modes and on several kinds of device (random_jobs.h).
 */
#include "random_program.h"

#include "random_jobs.h"

static const struct setting settings[] = {
#define DEVICES(options, kinds, more)                                                              \
    {"strict", "late=1:late_limit=2ms" more, options, kinds},                                      \
        {"report", "delay=0" more, options, kinds},                                                \
        {"fix", "late=1:late_limit=2ms" more, options, kinds},                                     \
        {"strict", "delay=20us:seed=%" more, options, kinds},                                      \
        {"report", "late=1:late_limit=2ms" more, options, kinds},                                  \
        {"strict", "delay=0" more, options, kinds},                                                \
        {"report", "delay=20us:seed=%" more, options, kinds},                                      \
        {"fix", "delay=20us:seed=%" more, options, kinds},                                         \
        {"strict", "delay=5us:bandwidth=500M" more, options, kinds},                               \
    {                                                                                              \
        "report", "delay=200us:seed=%" more, options, kinds                                        \
    }
    DEVICES("device=1", 0, ""),
    DEVICES(NULL, 0, ""),
    DEVICES("device=1:kernels=report", 0, ""),
    DEVICES("device=1:kernels=order", 0, ""),
    DEVICES("device=0:kernels=order", 0, ""),
    /* Later ones come behind, so that those above stay what they are in once_wrong. */
    DEVICES("device=1", POOLS, ""),
    DEVICES("device=1:kernels=order", POOLS, ""),
    DEVICES("device=1", NODES, ""),
    DEVICES("device=1:kernels=report", NODES, ""),
    DEVICES("device=1", PEERS, ":devices=2"),
    DEVICES("device=1:pinned=driver", 0, ""),
    DEVICES("device=1", ROWS, ""),
    DEVICES("device=1", TOLD, ""),
    DEVICES("device=1", OF_MANAGED, ""),
    DEVICES(NULL, OF_MANAGED, ""),
    DEVICES("device=1:guard=mprotect", 0, ""),
    DEVICES("device=1:guard=uffd", 0, ""),
    DEVICES(NULL, SIMPLE, ""),
    DEVICES("device=0:pinned=driver", SIMPLE, ""),
    DEVICES(NULL, SIMPLE | ALONE, ""),
    DEVICES("device=1", ALONE, ""),
};

static bool is_asked_for(const char *option)
{
    const char *options = getenv("SAFECOPY_OPTIONS");
    return options && strstr(options, option);
}

static enum kernels kernels_asked_for(void)
{
    if (is_asked_for("kernels=order"))
        return KERNELS_ORDERED;
    return is_asked_for("kernels=report") ? KERNELS_REPORTED : KERNELS_OFF;
}

static void run(unsigned long count, uint64_t seed, const char *mode, unsigned kinds)
{
    world.kinds = kinds;
    world.exact = strcmp(mode, "fix") != 0;
    start_device(strcmp(mode, "report") != 0, is_asked_for("device=1"), kernels_asked_for());
    for (unsigned long i = 0; i < count; i++)
        run_program(seed + i);
    end_threads();
}

/* A launch that waits for an event named a kernel that the edge behind a copy stands for, too. */
static const struct once_wrong once_wrong[] = {{910713135, 28}, {920412944, 23}};

int main(int argc, char **argv)
{
    static const struct lot programs = {
        .settings = settings,
        .setting_count = sizeof settings / sizeof *settings,
        .program_count = 20000,
        .run = run,
        .once_wrong = once_wrong,
        .once_wrong_count = sizeof once_wrong / sizeof *once_wrong,
    };
    return run_lot(argc, argv, &programs);
}
