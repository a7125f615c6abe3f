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
    {"strict", "late=1:late_limit=2ms"},    {"report", "delay=0"},
    {"fix", "late=1:late_limit=2ms"},       {"strict", "delay=20us:seed=%"},
    {"report", "late=1:late_limit=2ms"},    {"strict", "delay=0"},
    {"report", "delay=20us:seed=%"},        {"fix", "delay=20us:seed=%"},
    {"strict", "delay=5us:bandwidth=500M"}, {"report", "delay=200us:seed=%"},
};

static void run(unsigned long count, uint64_t seed, const char *mode)
{
    world.exact = strcmp(mode, "fix") != 0;
    start_device(strcmp(mode, "report") != 0);
    for (unsigned long i = 0; i < count; i++)
        run_program(seed + i);
    end_threads();
}

int main(int argc, char **argv)
{
    static const struct lot programs = {settings, sizeof settings / sizeof *settings, 10000, run};
    return run_lot(argc, argv, &programs);
}
