/* Another client, fork and exit. */
#include "records.h"

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- Q8: another client ---- */

static void both(const char *name)
{
    hundred_copies();
    TRY_CUPTI(cupti.flush(1));
    say(" %s:", name);
    tell_client(&us);
    tell_client(&them);
    reset();
}

void q8(void)
{
    say("Q8 they come while ours is on:");
    if (!begin())
        return;
    us.buffer_bytes = them.buffer_bytes = 16 * KB;
    start_us();
    hundred_copies();
    say(" their register CUPTI %d", (int)cupti.reg(them_request, them_complete));
    say(" enable CUPTI %d;", (int)cupti.enable(CUPTI_ACTIVITY_KIND_MEMCPY));
    both("both on, 200 copies");
    TRY_CUPTI(cupti.disable(CUPTI_ACTIVITY_KIND_MEMCPY));
    both("one disable");
    TRY_CUPTI(cupti.disable(CUPTI_ACTIVITY_KIND_MEMCPY));
    TRY_CUPTI(cupti.enable(CUPTI_ACTIVITY_KIND_MEMCPY));
    both("enabled again");
    end_line();
}

static void yields(bool by_flush)
{
    say("Q8 we disable%s, then they come:", by_flush ? " and flush(1)" : "");
    if (!begin())
        return;
    us.buffer_bytes = them.buffer_bytes = 16 * KB;
    start_us();
    hundred_copies();
    hold_stream(stream, 100);
    copy_small(); /* in flight while we leave */
    uint64_t start = now_ns();
    TRY_CUPTI(cupti.disable(CUPTI_ACTIVITY_KIND_MEMCPY));
    TRY_CUPTI(cupti.disable(CUPTI_ACTIVITY_KIND_MEMSET));
    if (by_flush)
        TRY_CUPTI(cupti.flush(1));
    say(" in %.3f ms;", ms_since(start));
    tell_client(&us);
    say(" their register CUPTI %d,", (int)cupti.reg(them_request, them_complete));
    say(" enable CUPTI %d;", (int)cupti.enable(CUPTI_ACTIVITY_KIND_MEMCPY));
    TRY(cuStreamSynchronize(stream));
    both("their 100 copies");
    both("and 100 more");
    TRY_CUPTI(cupti.disable(CUPTI_ACTIVITY_KIND_MEMCPY));
    end_line();
}

void yields_plainly(void)
{
    yields(false);
}

void yields_flushing(void)
{
    yields(true);
}

void comes_second(void)
{
    say("Q8 they are there first; we register and enable beside them:");
    if (!begin())
        return;
    us.buffer_bytes = them.buffer_bytes = 16 * KB;
    TRY_CUPTI(cupti.reg(them_request, them_complete));
    TRY_CUPTI(cupti.enable(CUPTI_ACTIVITY_KIND_MEMCPY));
    hundred_copies();
    say(" our register CUPTI %d;", (int)cupti.reg(us_request, us_complete));
    both("100 of theirs, 100 more");
    both("100 more");
    end_line();
}

/* ---- Q9: fork and exit ---- */

static void child_of_fork(void)
{
    alarm(5);
    reset();
    say(" child:");
    list_threads();
    uint64_t start = now_ns();
    CUptiResult rc = cupti.disable(CUPTI_ACTIVITY_KIND_MEMCPY);
    say(", disable CUPTI %d in %.1f ms", (int)rc, ms_since(start));
    tell_client(&us);
    start = now_ns();
    rc = cupti.flush(0);
    say(", flush CUPTI %d in %.1f ms", (int)rc, ms_since(start));
    tell_client(&us);
    end_line();
}

void fork_question(void)
{
    int status = 0;

    say("Q9 fork with records pending, _exit in the child:");
    if (!begin())
        return;
    start_us();
    hundred_copies();
    for (int way = 0; way < 3; way++) {
        pid_t child = fork();
        if (child == 0) {
            if (way == 0)
                _exit(0);
            if (way == 2) {
                child_of_fork();
                _exit(0);
            }
            us.tell = true;
            reset();
            exit(0);
        }
        waitpid(child, &status, 0);
        say("Q9 child (%s) ended with %d of signal %d",
            way == 0   ? "_exit"
            : way == 1 ? "exit"
                       : "disables and flushes",
            WEXITSTATUS(status), WIFSIGNALED(status) ? WTERMSIG(status) : 0);
        end_line();
    }
    TRY_CUPTI(cupti.flush(0));
    say("Q9 the parent has");
    tell_client(&us);
    end_line();
}

static void at_exit_say(void)
{
    say(" in atexit:");
    tell_client(&us);
    uint64_t start = now_ns();
    CUptiResult rc = cupti.flush(0);
    say(" flush(0) CUPTI %d in %.1f ms:", (int)rc, ms_since(start));
    tell_client(&us);
    end_line();
}

static _Atomic bool late_calls;

static __attribute__((destructor)) void in_destructor(void)
{
    if (!atomic_load(&late_calls))
        return;
    say("Q9 in a destructor:");
    tell_client(&us);
    CUptiResult rc = cupti.flush(1);
    say(" flush(1) CUPTI %d:", (int)rc);
    tell_client(&us);
    end_line();
}

static void exit_with(bool flushes)
{
    say("Q9 exit with a record pending%s:", flushes ? "" : ", nobody flushes");
    if (!begin())
        return;
    start_us();
    hundred_copies();
    if (flushes) {
        atexit(at_exit_say);
        atomic_store(&late_calls, true);
    }
    us.tell = !flushes;
    reset();
    exit(0);
}

void exit_flushing(void)
{
    exit_with(true);
}

void exit_plainly(void)
{
    exit_with(false);
}
