/* links: interpose/guard/userfaults.c interpose/memory/areas.c
 * links: interpose/guard/guarded_ranges.c interpose/guard/page_protection.c
 * not-under: qemu memcheck thread (which know no userfaultfd)
 *
 * Pages that userfaultfd keeps off, with the kernel's own. Each test is a process of its own, and
 * passes with a word where the kernel has no such descriptor to give. */
#include "interpose/guard/door.h"
#include "interpose/guard/userfaults.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "interpose/base/process.h"
#include "interpose/memory/areas.h"

#include "common/pages.h"
#include "common/ticks.h"
#include "track/guarded.h"
#include "track/spans.h"
#include "track/track.h"
#include "track/track_device.h"
#include "track/track_graphs.h"
#include "track/track_holds.h"
#include "track/track_ops.h"
#include "track/track_order.h"
#include "track/track_ranges.h"
#include "track/tracker.h"

enum {
    PAGE = 4096,
    PAGES = 8,
    BYTES = PAGES * PAGE,
    AREA_PAGES = SC_AREAS_BYTES / PAGE,
    OFTEN = 10,
    COLLAPSE = 25, /* MADV_COLLAPSE */
};

static bool is_child;

bool sc_process_is_child(void)
{
    return is_child;
}

static unsigned char *block;
static unsigned char *alias; /* the same pages, as a device has them */
static _Atomic unsigned events;
static _Atomic bool denies, holds, has_ended, is_reading;

static pthread_mutex_t stripe =
    PTHREAD_MUTEX_INITIALIZER; /* as interpose/guard/protect.h has them */

static void *read_events(void *unused)
{
    struct sc_userfaults_event event;
    ck_assert(sc_userfaults_start_reader());
    atomic_store(&is_reading, true);
    while (sc_userfaults_await(&event)) {
        atomic_fetch_add(&events, 1);
        while (atomic_load(&holds))
            usleep(100);
        pthread_mutex_lock(&stripe);
        sc_userfaults_resume_touch(event.address, atomic_load(&denies) &&
                                                      sc_userfaults_is_protected(event.address));
        pthread_mutex_unlock(&stripe);
    }
    atomic_store(&has_ended, true);
    return unused;
}

/* False: there is nothing to be tested here. */
static bool begin_without_sources(void)
{
    pthread_t reader;
    sc_ticks_start();
    ck_assert_int_eq(sc_spans_init(&sc_track.inflight.guards), 0);
    if (!sc_userfaults_begin()) {
        puts("no userfaultfd here: not tested");
        return false;
    }
    block = (unsigned char *)sc_areas_map(BYTES);
    ck_assert_ptr_nonnull(block);
    alias = mremap(block, 0, BYTES, MREMAP_MAYMOVE);
    ck_assert_ptr_ne(alias, MAP_FAILED);
    sc_userfaults_serve((uintptr_t)block, BYTES);
    ck_assert(sc_userfaults_have_adopted((uintptr_t)block, BYTES));
    ck_assert(!sc_guard_uses_userfault((uintptr_t)block, PAGE, false));
    ck_assert_int_eq(pthread_create(&reader, NULL, read_events, NULL), 0);
    while (!atomic_load(&is_reading))
        usleep(100);
    ck_assert(sc_guard_uses_userfault((uintptr_t)block, PAGE, false));
    ck_assert(!sc_guard_uses_userfault((uintptr_t)block, PAGE, true));
    return true;
}

static void take_sources(void)
{
    sc_userfaults_adopt_sources((uintptr_t)block, BYTES);
}

static bool begin(void)
{
    if (!begin_without_sources())
        return false;
    take_sources();
    return true;
}

static void set(unsigned first, unsigned count, enum sc_access access)
{
    pthread_mutex_lock(&stripe);
    int refused = sc_userfaults_set((uintptr_t)block + first * PAGE, count * (size_t)PAGE, access);
    pthread_mutex_unlock(&stripe);
    ck_assert_int_eq(refused, 0);
}

static void *write_first(void *unused)
{
    *(volatile unsigned char *)block = 1;
    return unused;
}

static pthread_t begin_to_touch(void)
{
    pthread_t thread;
    unsigned before = atomic_load(&events);
    atomic_store(&holds, true);
    ck_assert_int_eq(pthread_create(&thread, NULL, write_first, NULL), 0);
    while (atomic_load(&events) == before)
        usleep(100);
    return thread;
}

static unsigned char read_by(unsigned page)
{
    return *(volatile unsigned char *)(block + (size_t)page * PAGE);
}

START_TEST(a_touch_waits_until_the_page_is_let_go)
{
    if (!begin())
        return;
    set(0, PAGES, SC_ACCESS_NONE);
    pthread_t toucher = begin_to_touch();
    alias[0] = 9; /* the device writes */
    usleep(1000);
    ck_assert_uint_eq(alias[0], 9);
    set(0, PAGES, SC_ACCESS_ALL);
    pthread_join(toucher, NULL); /* the reader waits still */
    ck_assert_uint_eq(alias[0], 1);
    atomic_store(&holds, false);
}
END_TEST

START_TEST(what_the_device_has_written_is_there)
{
    if (!begin())
        return;
    for (unsigned i = 0; i < OFTEN; i++) {
        set(0, PAGES, SC_ACCESS_NONE);
        memset(alias, (int)i, BYTES);
        set(0, PAGES, SC_ACCESS_ALL);
        for (unsigned page = 0; page < PAGES; page++)
            ck_assert_uint_eq(read_by(page), i);
        memset(block, 77, BYTES);
    }
    ck_assert_uint_eq(atomic_load(&events), 0);
}
END_TEST

START_TEST(pages_that_may_be_read_keep_writers_off_alone)
{
    if (!begin())
        return;
    block[0] = 5;
    set(0, PAGES, SC_ACCESS_READ);
    for (unsigned page = 0; page < PAGES; page++)
        read_by(page);
    ck_assert_uint_eq(atomic_load(&events), 0);
    pthread_t toucher = begin_to_touch();
    ck_assert_uint_eq(alias[0], 5);
    set(0, PAGES, SC_ACCESS_ALL);
    pthread_join(toucher, NULL);
    ck_assert_uint_eq(block[0], 1);
    atomic_store(&holds, false);
}
END_TEST

/* As with mprotect; nothing waits. */
START_TEST(a_system_call_is_refused)
{
    int ends[2];
    if (!begin())
        return;
    ck_assert_int_eq(pipe(ends), 0);
    set(0, 1, SC_ACCESS_NONE);
    set(1, 1, SC_ACCESS_READ);
    ck_assert_int_eq(write(ends[1], block, 8), -1);
    ck_assert_int_eq(errno, EFAULT);
    ck_assert_int_eq(write(ends[1], block + PAGE, 8), 8);
    ck_assert_int_eq(read(ends[0], block + PAGE, 8), -1);
    ck_assert_int_eq(errno, EFAULT);
    set(0, 2, SC_ACCESS_ALL);
    ck_assert_int_eq(write(ends[1], block, 8), 8);
    ck_assert_int_eq(read(ends[0], block + PAGE, 8), 8);
    ck_assert_uint_eq(atomic_load(&events), 0);
}
END_TEST

static sigjmp_buf out;
static siginfo_t caught;

static void leave(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)context;
    caught = *info;
    siglongjmp(out, 1);
}

static bool faults(unsigned page)
{
    struct sigaction action = {.sa_sigaction = leave, .sa_flags = SA_SIGINFO | SA_NODEFER};
    sigaction(SIGSEGV, &action, NULL);
    if (sigsetjmp(out, 1))
        return true;
    block[(size_t)page * PAGE + 8] = 3;
    return false;
}

/* Who writes waits until it is none any more. */
static void touch_a_source(void)
{
    set(0, PAGES, SC_ACCESS_READ);
    pthread_t toucher = begin_to_touch();
    set(0, PAGES, SC_ACCESS_ALL);
    pthread_join(toucher, NULL);
    atomic_store(&holds, false);
}

START_TEST(sources_are_mprotects_until_they_are_taken)
{
    if (!begin_without_sources())
        return;
    set(0, PAGES, SC_ACCESS_READ);
    read_by(1);
    ck_assert(faults(2));
    take_sources();
    ck_assert(faults(2));
    set(0, PAGES, SC_ACCESS_ALL);
    ck_assert(!faults(2));
    ck_assert_uint_eq(atomic_load(&events), 0);
    ck_assert(sc_guard_uses_userfault((uintptr_t)block, BYTES, true));
    touch_a_source();
}
END_TEST

START_TEST(a_touch_that_is_denied_is_a_fault_there)
{
    if (!begin())
        return;
    atomic_store(&denies, true);
    set(0, PAGES, SC_ACCESS_NONE);
    ck_assert(faults(2));
    ck_assert_int_eq(caught.si_code, SEGV_ACCERR);
    ck_assert_ptr_eq(caught.si_addr, block + 2 * PAGE + 8);
    ck_assert(faults(2));
    ck_assert_uint_eq(atomic_load(&events), 1);
    set(0, PAGES, SC_ACCESS_ALL);
    ck_assert(!faults(2));
    set(3, 1, SC_ACCESS_READ);
    ck_assert(faults(3));
    set(3, 1, SC_ACCESS_ALL);
    ck_assert(!faults(3));
}
END_TEST

START_TEST(a_page_that_is_touched_often_is_mprotects)
{
    if (!begin())
        return;
    atomic_store(&denies, true);
    for (unsigned i = 0; i < OFTEN; i++) {
        set(0, PAGES, SC_ACCESS_NONE);
        ck_assert(faults(1));
        set(0, PAGES, SC_ACCESS_ALL);
        ck_assert(!faults(1));
    }
    ck_assert_uint_eq(atomic_load(&events), 3);
    set(0, PAGES, SC_ACCESS_NONE);
    ck_assert(faults(0));
    set(0, PAGES, SC_ACCESS_ALL);
    ck_assert_uint_eq(atomic_load(&events), 4);
}
END_TEST

START_TEST(a_page_may_go_from_one_access_to_any_other)
{
    static const enum sc_access accesses[] = {SC_ACCESS_NONE, SC_ACCESS_READ, SC_ACCESS_ALL};
    if (!begin())
        return;
    atomic_store(&denies, true);
    srandom(2);
    for (unsigned i = 0; i < 2000; i++) {
        unsigned first = (unsigned)random() % PAGES;
        unsigned count = 1 + (unsigned)random() % (PAGES - first);
        enum sc_access access = accesses[random() % 3];
        set(first, count, access);
        if (i % 5 == 0)
            ck_assert_int_eq(faults(first), access != SC_ACCESS_ALL);
    }
    set(0, PAGES, SC_ACCESS_ALL);
    for (unsigned page = 0; page < PAGES; page++)
        ck_assert(!faults(page));
}
END_TEST

START_TEST(a_child_has_all_pages)
{
    int status;
    if (!begin())
        return;
    set(0, 1, SC_ACCESS_NONE);
    set(1, 1, SC_ACCESS_READ);
    pid_t child = fork();
    if (child == 0) {
        block[0]++;
        block[PAGE]++;
        _exit(3);
    }
    waitpid(child, &status, 0);
    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 3);
    ck_assert_uint_eq(alias[0], 1);
    ck_assert_uint_eq(atomic_load(&events), 0);
    set(0, 2, SC_ACCESS_ALL);
}
END_TEST

/* The parent's thread had asked for mprotect, and not noted it. */
START_TEST(a_child_has_a_page_that_was_just_given_to_mprotect)
{
    int status;
    if (!begin())
        return;
    set(0, 1, SC_ACCESS_NONE);
    ck_assert_int_eq(mprotect(block, PAGE, PROT_NONE), 0);
    pid_t child = fork();
    if (child == 0) {
        is_child = true;
        _exit(sc_userfaults_set((uintptr_t)block, PAGE, SC_ACCESS_ALL) == 0 && ++block[0] ? 3 : 4);
    }
    waitpid(child, &status, 0);
    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 3);
}
END_TEST

static void take_all_descriptors(void)
{
    for (int fd = 3; fd < 300; fd++)
        close(fd);
    int foreign = open("/dev/null", O_WRONLY);
    for (int fd = 3; fd < 300; fd++)
        dup2(foreign, fd);
}

/* What is off then is let go, and the rest is mprotect's. */
START_TEST(a_descriptor_that_the_program_closes_costs_what_is_off_and_no_more)
{
    if (!begin())
        return;
    set(0, 2, SC_ACCESS_NONE);
    take_all_descriptors();
    set(0, 2, SC_ACCESS_ALL);
    while (!atomic_load(&has_ended))
        usleep(100);
    ck_assert(!faults(0));
    ck_assert(!sc_guard_uses_userfault((uintptr_t)block, PAGE, false));
    sc_userfaults_note_mechanism((uintptr_t)block, BYTES, false);
    set(4, 1, SC_ACCESS_NONE);
    ck_assert(faults(4));
    set(4, 1, SC_ACCESS_ALL);
    ck_assert(!faults(4));
}
END_TEST

static void *enter(void *entered)
{
    *(bool *)entered = sc_userfaults_start_reader();
    return NULL;
}

/* The program has closed it before the reader came, and has a pipe at its number. */
START_TEST(a_reader_takes_no_file_of_the_programs)
{
    int ends[2];
    char bytes[8] = "unread";
    bool entered = true;
    pthread_t reader;
    if (!sc_userfaults_begin())
        return;
    ck_assert_int_eq(pipe(ends), 0);
    ck_assert_int_eq(write(ends[1], bytes, sizeof bytes), (int)sizeof bytes);
    for (int fd = 3; fd < 300; fd++)
        if (fd != ends[0] && fd != ends[1])
            dup2(ends[0], fd);
    ck_assert_int_eq(pthread_create(&reader, NULL, enter, &entered), 0);
    pthread_join(reader, NULL);
    ck_assert(!entered);
    memset(bytes, 0, sizeof bytes);
    ck_assert_int_eq(read(ends[0], bytes, sizeof bytes), (int)sizeof bytes);
    ck_assert_str_eq(bytes, "unread");
}
END_TEST

START_TEST(memory_that_is_given_back_is_registered_no_more)
{
    if (!begin())
        return;
    set(0, PAGES, SC_ACCESS_NONE);
    set(0, PAGES, SC_ACCESS_ALL);
    sc_areas_unmap((uintptr_t)block, BYTES);
    uintptr_t other = sc_areas_map(BYTES);
    ck_assert(!sc_guard_uses_userfault(other, PAGE, false));
    block = (unsigned char *)other;
    ck_assert(!faults(0));
    set(0, 1, SC_ACCESS_NONE);
    ck_assert(faults(0));
    ck_assert_uint_eq(atomic_load(&events), 0);
}
END_TEST

static _Atomic bool is_over;

/* The kernel meets no page that is missing, whatever becomes of the area meanwhile. */
static void *pass_pages_through_pipe(void *area)
{
    unsigned char *bytes = area;
    int ends[2];
    ck_assert_int_eq(pipe(ends), 0);
    for (unsigned i = 0; !atomic_load(&is_over); i++) {
        unsigned char *page = bytes + (size_t)(i % AREA_PAGES) * PAGE;
        ck_assert_int_eq(write(ends[1], page, PAGE), PAGE);
        ck_assert_int_eq(read(ends[0], page, PAGE), PAGE);
    }
    return area;
}

static unsigned char *fill_area(void)
{
    uintptr_t start = sc_areas_take_block(SC_AREAS_BYTES);
    unsigned char *area = mmap((void *)start, SC_AREAS_BYTES, PROT_READ | PROT_WRITE,
                               MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    ck_assert_uint_eq((uintptr_t)area, start);
    for (unsigned i = 0; i < AREA_PAGES; i++)
        memset(area + (size_t)i * PAGE, (int)i, PAGE);
    madvise(area, SC_AREAS_BYTES, COLLAPSE); /* where the kernel can */
    return area;
}

static void adopt_beside_calls(unsigned char *area)
{
    pthread_t caller;
    ck_assert_int_eq(pthread_create(&caller, NULL, pass_pages_through_pipe, area), 0);
    usleep(1000);
    ck_assert(sc_spans_move_area(&sc_track.inflight.guards, (uintptr_t)area));
    ck_assert(sc_userfaults_adopt_huge((uintptr_t)area));
    usleep(1000);
    atomic_store(&is_over, true);
    pthread_join(caller, NULL);
}

START_TEST(parts_of_a_huge_page_are_protected_alone)
{
    if (!begin())
        return;
    unsigned char *area = block = fill_area();
    alias = mremap(area, 0, SC_AREAS_BYTES, MREMAP_MAYMOVE);
    adopt_beside_calls(area);
    ck_assert(sc_guard_uses_userfault((uintptr_t)area, 9 * PAGE, false));
    for (unsigned i = 0; i < OFTEN; i++) {
        set(3, 2, SC_ACCESS_NONE);
        memset(alias + 3 * PAGE, (int)i + 100, 2 * PAGE);
        for (unsigned page = 5; page < AREA_PAGES; page++)
            ck_assert_uint_eq(read_by(page), page % 256);
        set(3, 2, SC_ACCESS_ALL);
        ck_assert_uint_eq(read_by(3), i + 100);
    }
    ck_assert_uint_eq(atomic_load(&events), 0);
    atomic_store(&denies, true);
    set(3, 2, SC_ACCESS_NONE);
    ck_assert(faults(4) && !faults(5));
}
END_TEST

START_TEST(what_is_left_to_mprotect_is_mprotects_until_it_is_decided_anew)
{
    if (!begin())
        return;
    sc_userfaults_note_mechanism((uintptr_t)block, BYTES, true);
    ck_assert(!sc_userfaults_mechanism_is_noted((uintptr_t)block, BYTES, false));
    ck_assert(!sc_guard_uses_userfault((uintptr_t)block, PAGE, false));
    set(0, PAGES, SC_ACCESS_NONE);
    sc_userfaults_note_mechanism((uintptr_t)block, BYTES, false);
    ck_assert(!sc_guard_uses_userfault((uintptr_t)block, PAGE, false));
    ck_assert(faults(3));
    set(0, PAGES, SC_ACCESS_ALL);
    ck_assert_uint_eq(atomic_load(&events), 0);
    ck_assert(sc_guard_uses_userfault((uintptr_t)block, BYTES, false));
    atomic_store(&denies, true);
    set(0, PAGES, SC_ACCESS_NONE);
    ck_assert(faults(3));
    ck_assert_uint_eq(atomic_load(&events), 1);
}
END_TEST

/* Nobody has looked whether a thread would die of it. */
START_TEST(what_is_not_left_to_mprotect_is_not_its_own_when_the_reader_has_gone)
{
    if (!begin())
        return;
    take_all_descriptors();
    ck_assert_int_ne(sc_userfaults_set((uintptr_t)block, BYTES, SC_ACCESS_READ), 0);
    while (!atomic_load(&has_ended))
        usleep(100);
    ck_assert(!faults(1));
}
END_TEST

/* A copy of the bytes that are still to come goes on from there. */
START_TEST(a_result_that_becomes_a_source_lets_readers_in_and_no_writer)
{
    if (!begin())
        return;
    set(0, PAGES, SC_ACCESS_NONE);
    memset(alias, 6, BYTES);
    set(0, PAGES, SC_ACCESS_READ);
    for (unsigned page = 0; page < PAGES; page++)
        ck_assert_uint_eq(read_by(page), 6);
    ck_assert_uint_eq(atomic_load(&events), 0);
    ck_assert(sc_guard_uses_userfault((uintptr_t)block, BYTES, true));
    pthread_t toucher = begin_to_touch();
    ck_assert_uint_eq(alias[0], 6);
    set(0, PAGES, SC_ACCESS_ALL);
    pthread_join(toucher, NULL);
    ck_assert_uint_eq(block[0], 1);
    atomic_store(&holds, false);
}
END_TEST

/* Another thread has noted sources for the memory that was here before. */
START_TEST(what_is_noted_of_memory_that_has_gone_gives_nothing_up)
{
    const uint8_t sources = 0x40;
    if (!begin_without_sources())
        return;
    for (unsigned page = 0; page < PAGES; page++)
        sc_areas.page_states[((uintptr_t)block - sc_areas.start) / PAGE + page] |= sources;
    ck_assert(sc_guard_uses_userfault((uintptr_t)block, BYTES, true));
    ck_assert_int_ne(sc_userfaults_set((uintptr_t)block, BYTES, SC_ACCESS_READ), 0);
    ck_assert(!faults(2));
    ck_assert(!atomic_load(&has_ended));
    ck_assert(!sc_guard_uses_userfault((uintptr_t)block, BYTES, true));
    ck_assert(sc_guard_uses_userfault((uintptr_t)block, BYTES, false));
    take_sources();
    touch_a_source();
}
END_TEST

/* MADV_REMOVE has taken it away: who waits for it has zeros. */
START_TEST(a_page_that_is_no_more_wakes_who_waits_for_it)
{
    if (!begin())
        return;
    set(0, PAGES, SC_ACCESS_NONE);
    pthread_t toucher = begin_to_touch();
    ck_assert_int_eq(madvise(alias, 2 * PAGE, MADV_REMOVE), 0);
    memset(alias + 4 * PAGE, 4, PAGE);
    set(0, PAGES, SC_ACCESS_ALL);
    pthread_join(toucher, NULL);
    ck_assert_uint_eq(read_by(4), 4);
    ck_assert(!atomic_load(&has_ended));
    atomic_store(&holds, false);
    ck_assert(sc_guard_uses_userfault((uintptr_t)block, PAGE, false));
}
END_TEST

START_TEST(a_long_interval_is_mprotects)
{
    if (!begin())
        return;
    block = fill_area();
    ck_assert(sc_spans_move_area(&sc_track.inflight.guards, (uintptr_t)block));
    ck_assert(sc_userfaults_adopt_huge((uintptr_t)block));
    ck_assert(!sc_guard_uses_userfault((uintptr_t)block, SC_AREAS_BYTES, false));
    ck_assert(sc_guard_uses_userfault((uintptr_t)block, SC_AREAS_BYTES / 4, false));
    sc_userfaults_note_mechanism((uintptr_t)block, SC_AREAS_BYTES, true);
    set(0, AREA_PAGES, SC_ACCESS_NONE);
    ck_assert(faults(3));
    ck_assert_uint_eq(atomic_load(&events), 0);
    set(0, AREA_PAGES, SC_ACCESS_ALL);
    sc_userfaults_note_mechanism((uintptr_t)block, PAGE, false);
    ck_assert(sc_guard_uses_userfault((uintptr_t)block, PAGE, false));
    ck_assert_uint_eq(read_by(9), 9);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("userfaults");
    TCase *cases = tcase_create("userfaults");
    tcase_add_test(cases, a_touch_waits_until_the_page_is_let_go);
    tcase_add_test(cases, what_the_device_has_written_is_there);
    tcase_add_test(cases, pages_that_may_be_read_keep_writers_off_alone);
    tcase_add_test(cases, a_system_call_is_refused);
    tcase_add_test(cases, sources_are_mprotects_until_they_are_taken);
    tcase_add_test(cases, a_touch_that_is_denied_is_a_fault_there);
    tcase_add_test(cases, a_page_that_is_touched_often_is_mprotects);
    tcase_add_test(cases, a_page_may_go_from_one_access_to_any_other);
    tcase_add_test(cases, a_child_has_all_pages);
    tcase_add_test(cases, a_child_has_a_page_that_was_just_given_to_mprotect);
    tcase_add_test(cases, a_descriptor_that_the_program_closes_costs_what_is_off_and_no_more);
    tcase_add_test(cases, a_reader_takes_no_file_of_the_programs);
    tcase_add_test(cases, memory_that_is_given_back_is_registered_no_more);
    tcase_add_test(cases, parts_of_a_huge_page_are_protected_alone);
    tcase_add_test(cases, what_is_left_to_mprotect_is_mprotects_until_it_is_decided_anew);
    tcase_add_test(cases, what_is_not_left_to_mprotect_is_not_its_own_when_the_reader_has_gone);
    tcase_add_test(cases, a_result_that_becomes_a_source_lets_readers_in_and_no_writer);
    tcase_add_test(cases, what_is_noted_of_memory_that_has_gone_gives_nothing_up);
    tcase_add_test(cases, a_page_that_is_no_more_wakes_who_waits_for_it);
    tcase_add_test(cases, a_long_interval_is_mprotects);
    suite_add_tcase(suite, cases);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
