/* links: interpose/streams/plain_functions.c interpose/base/instructions.c interpose/base/x86.c
 *
 * Which functions can wait for nobody, by their code: functions that a compiler has made, and on
 * x86-64 some that are spelled out. What is plain by these rules depends on the compiler; what is
 * not depends on nothing.
 */
#include "interpose/base/instructions.h"
#include "interpose/base/spare_stack.h"
#include "interpose/streams/plain_functions.h"

#include <check.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

bool sc_spare_stack_is_current(void)
{
    return false;
}

void sc_spare_stack_make_room(sc_spare_function *function, void *argument)
{
    function(argument);
}

/* Neither a sanitizer's calls nor anything of the caller are in it. */
#define FUNCTION                                                                                   \
    static __attribute__((noinline, no_sanitize("address", "undefined", "thread"))) void

static _Atomic int flag;
static volatile int seen;
static sem_t semaphore;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static void (*volatile hook)(void);

/* ---- those that wait for nobody ---- */

FUNCTION does_nothing(void *unused)
{
    (void)unused;
}

FUNCTION stores(void *at)
{
    *(int *)at = 1;
}

FUNCTION adds(void *unused)
{
    (void)unused;
    seen = seen + 1;
}

FUNCTION naps(void *unused)
{
    struct timespec time = {0, 60000000};
    (void)unused;
    nanosleep(&time, NULL);
}

FUNCTION naps_as_told(void *microseconds)
{
    usleep(*(unsigned *)microseconds);
    seen = 1;
}

FUNCTION naps_over_signals(void *unused)
{
    struct timespec time = {0, 60000000};
    (void)unused;
    while (nanosleep(&time, &time) == -1)
        ;
}

FUNCTION naps_unless_told(void *unused)
{
    (void)unused;
    if (!seen)
        usleep(60000);
}

FUNCTION hands_on(void *unused)
{
    (void)unused;
    sem_post(&semaphore);
}

FUNCTION chooses(void *at)
{
    if (at)
        *(int *)at = 2;
    else
        seen = 3;
}

FUNCTION calls_another(void *at)
{
    chooses(at);
    naps(at);
}

/* ---- those that may wait ---- */

FUNCTION polls(void *unused)
{
    (void)unused;
    while (!atomic_load(&flag))
        usleep(500);
}

FUNCTION polls_once_a_minute(void *unused)
{
    (void)unused;
    do
        sleep(60);
    while (!atomic_load(&flag));
}

FUNCTION spins(void *unused)
{
    (void)unused;
    while (!atomic_load(&flag))
        ;
}

FUNCTION looks_again(void *unused)
{
    (void)unused;
    usleep(500);
    if (!seen)
        usleep(60000);
}

FUNCTION waits(void *unused)
{
    (void)unused;
    sem_wait(&semaphore);
}

FUNCTION locks(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&mutex);
    pthread_cond_signal(&condition);
    pthread_mutex_unlock(&mutex);
}

FUNCTION asks_the_kernel(void *unused)
{
    (void)unused;
    syscall(SYS_futex, &flag, 0, 0, NULL, NULL, 0);
}

FUNCTION calls_by_pointer(void *unused)
{
    (void)unused;
    hook();
}

FUNCTION reads(void *byte)
{
    if (read(0, byte, 1) < 0)
        seen = 4;
}

/* ---- tests ---- */

static bool is_plain(void (*function)(void *))
{
    return sc_plain_functions_is_one((uintptr_t)function);
}

/* The loader may bind calls when they are first made. */
static void bind_calls(void)
{
    struct timespec time = {0, 1};
    sem_init(&semaphore, 0, 0);
    sem_post(&semaphore);
    nanosleep(&time, NULL);
    usleep(1);
    sleep(0);
    atomic_store(&flag, 1);
}

START_TEST(what_sleeps_or_hands_on_is_plain)
{
    ck_assert(is_plain(does_nothing));
    ck_assert(is_plain(stores));
    ck_assert(is_plain(adds));
    ck_assert(is_plain(naps));
    ck_assert(is_plain(naps_as_told));
    ck_assert(is_plain(naps_over_signals));
    ck_assert(is_plain(naps_unless_told));
    ck_assert(is_plain(hands_on));
    ck_assert(is_plain(chooses));
    ck_assert(is_plain(calls_another));
}
END_TEST

START_TEST(what_may_wait_is_not)
{
    ck_assert(!is_plain(polls));
    ck_assert(!is_plain(polls_once_a_minute));
    ck_assert(!is_plain(spins));
    ck_assert(!is_plain(looks_again));
    ck_assert(!is_plain(waits));
    ck_assert(!is_plain(locks));
    ck_assert(!is_plain(asks_the_kernel));
    ck_assert(!is_plain(calls_by_pointer));
    ck_assert(!is_plain(reads));
}
END_TEST

START_TEST(what_is_no_code_is_not)
{
    long page_bytes = sysconf(_SC_PAGESIZE);
    unsigned char *none =
        mmap(NULL, (size_t)page_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(none, MAP_FAILED);
    ck_assert(!sc_plain_functions_is_one(0));
    ck_assert(!sc_plain_functions_is_one(1));
    ck_assert(!sc_plain_functions_is_one((uintptr_t)none));
    munmap(none, (size_t)page_bytes);
}
END_TEST

/* ---- code that is spelled out ---- */

#ifdef __x86_64__

static unsigned char *page;
enum { AT = 64, PAGE_BYTES = 4096 };

static bool is_plain_code(const char *bytes, size_t size_bytes)
{
    memset(page, 0xCC, PAGE_BYTES);
    memcpy(page + AT, bytes, size_bytes);
    return sc_plain_functions_is_one((uintptr_t)page + AT);
}

#define CODE(bytes) is_plain_code(bytes, sizeof bytes - 1)

static void map_page(void)
{
    page = mmap(NULL, PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(page, MAP_FAILED);
}

static void unmap_page(void)
{
    munmap(page, PAGE_BYTES);
}

START_TEST(ways_of_code)
{
    ck_assert(CODE("\xC3"));                         /* ret */
    ck_assert(CODE("\xF3\x0F\x1E\xFA\x90\xC3"));     /* endbr64; nop; ret */
    ck_assert(CODE("\xEB\x01\xCC\xC3"));             /* over a trap */
    ck_assert(CODE("\x85\xFF\x74\x01\xC3\xC3"));     /* both ways return */
    ck_assert(CODE("\x85\xFF\x74\x02\x0F\x0B\xC3")); /* one way is a trap */
    ck_assert(CODE("\xE8\x01\x00\x00\x00\xC3\xC3")); /* a call of what returns */
    ck_assert(!CODE("\xCC"));                        /* a trap alone */
    ck_assert(!CODE("\xEB\xFE"));                    /* for ever */
    ck_assert(!CODE("\x80\x3F\x00\x74\xFB\xC3"));    /* while (!*p) */
    ck_assert(!CODE("\x0F\x05\xC3"));                /* syscall */
    ck_assert(!CODE("\xFF\xD7\xC3"));                /* call by a register */
    ck_assert(!CODE("\xFF\x27"));                    /* jump by memory */
    ck_assert(!CODE("\xE8\xFB\xFF\xFF\xFF\xC3"));    /* itself */
    ck_assert(!CODE("\xE2\xFE\xC3"));                /* loop */
}
END_TEST

/* Of the comparison of a number that is known one way is followed: the other one does not return.
 */
START_TEST(numbers_that_are_known)
{
    ck_assert(CODE("\xB8\x01\x00\x00\x00\x83\xF8\xFF\x74\xFE\xC3")); /* 1 is not -1 */
    ck_assert(CODE("\xB8\x04\x00\x00\x00\x3C\x04\x75\xFE\xC3"));     /* 4 is 4 */
    ck_assert(CODE("\x31\xC0\x85\xC0\x75\xFE\xC3"));                 /* 0 is 0 */
    ck_assert(!CODE("\x31\xC0\x85\xC0\x74\xFE\xC3"));
    ck_assert(!CODE("\xB8\x01\x00\x00\x00\x83\xC0\x01\x83\xF8\xFF\x74\xFE\xC3")); /* changed */
    ck_assert(!CODE("\x31\xC0\x85\xC9\x75\xFE\xC3")); /* another register */
    /* The canary: sub rax, fs:0x28; or mov rax, fs:0x28 and cmp rax, [rsp + 8]. */
    ck_assert(CODE("\x64\x48\x2B\x04\x25\x28\x00\x00\x00\x75\xFE\xC3"));
    ck_assert(CODE("\x64\x48\x8B\x04\x25\x28\x00\x00\x00\x48\x3B\x44\x24\x08\x75\xFE\xC3"));
    ck_assert(!CODE("\x64\x48\x8B\x04\x25\x30\x00\x00\x00\x48\x3B\x44\x24\x08\x75\xFE\xC3"));
}
END_TEST

static unsigned length_of(const char *bytes, size_t size_bytes)
{
    return sc_instructions_read((const unsigned char *)bytes, size_bytes, AT).length;
}

#define LENGTH(bytes)                                                                              \
    ck_assert_uint_eq(length_of(bytes "\x90\x90", sizeof bytes + 1), sizeof bytes - 1)

START_TEST(lengths)
{
    LENGTH("\x55");                                     /* push rbp */
    LENGTH("\x48\x89\xE5");                             /* mov rbp, rsp */
    LENGTH("\x48\x83\xEC\x18");                         /* sub rsp, 24 */
    LENGTH("\x48\x81\xEC\x00\x01\x00\x00");             /* sub rsp, 256 */
    LENGTH("\x48\xC7\x44\x24\x08\x00\x87\x93\x03");     /* mov qword [rsp + 8], n */
    LENGTH("\x66\xC7\x44\x24\x08\x00\x87");             /* mov word */
    LENGTH("\xC7\x05\x10\x00\x00\x00\x01\x00\x00\x00"); /* mov dword [rip + 16], 1 */
    LENGTH("\x48\xB8\x01\x02\x03\x04\x05\x06\x07\x08"); /* mov rax, n */
    LENGTH("\x8B\x04\x8D\x00\x00\x00\x00");             /* mov eax, [rcx * 4 + n] */
    LENGTH("\x8B\x44\xC8\x10");                         /* mov eax, [rax + rcx * 8 + 16] */
    LENGTH("\x41\x8B\x84\x24\x00\x01\x00\x00");         /* mov eax, [r12 + 256] */
    LENGTH("\xF6\x07\x01");                             /* test byte [rdi], 1 */
    LENGTH("\xF7\xD8");                                 /* neg eax */
    LENGTH("\xF0\x0F\xC1\x05\x00\x00\x00\x00");         /* lock xadd */
    LENGTH("\x0F\xB6\xC0");                             /* movzx eax, al */
    LENGTH("\x66\x0F\x6F\x05\x00\x00\x00\x00");         /* movdqa xmm0, [rip] */
    LENGTH("\x66\x0F\x3A\x0F\xC1\x08");                 /* palignr */
    LENGTH("\xC5\xF8\x28\x45\x00");                     /* vmovaps xmm0, [rbp] */
    LENGTH("\xC4\xE2\x79\x18\x05\x00\x00\x00\x00");     /* vbroadcastss */
    LENGTH("\xC4\xE3\x79\x0F\xC1\x08");                 /* vpalignr */
    LENGTH("\x62\xF1\x7C\x48\x28\x45\x00");             /* vmovaps zmm0, [rbp] */
}
END_TEST

/* As at the end of what may be read. */
START_TEST(code_that_is_cut_is_not_known)
{
    static const unsigned char code[] = {0x48, 0xC7, 0x44, 0x24, 0x08, 0x00, 0x87, 0x93, 0x03};
    for (size_t size = 0; size < sizeof code; size++)
        ck_assert_int_eq(sc_instructions_read(code, size, AT).way, SC_WAY_UNKNOWN);
    ck_assert_int_eq(sc_instructions_read(code, sizeof code, AT).way, SC_WAY_ON);
}
END_TEST

static void add_spelled_out(Suite *suite)
{
    TCase *tests = tcase_create("code");
    tcase_add_checked_fixture(tests, map_page, unmap_page);
    tcase_add_test(tests, ways_of_code);
    tcase_add_test(tests, numbers_that_are_known);
    tcase_add_test(tests, lengths);
    tcase_add_test(tests, code_that_is_cut_is_not_known);
    suite_add_tcase(suite, tests);
}

#else

static void add_spelled_out(Suite *suite)
{
    (void)suite;
}

#endif

static Suite *all_tests(void)
{
    Suite *suite = suite_create("plain functions");
    TCase *tests = tcase_create("functions");
    bind_calls();
    tcase_add_test(tests, what_sleeps_or_hands_on_is_plain);
    tcase_add_test(tests, what_may_wait_is_not);
    tcase_add_test(tests, what_is_no_code_is_not);
    suite_add_tcase(suite, tests);
    add_spelled_out(suite);
    return suite;
}

int main(void)
{
    SRunner *runner = srunner_create(all_tests());
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
