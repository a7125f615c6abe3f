/* The kernel reads no memory for this process from now on (process_vm_readv), as under the default
 * filter of Docker 20.10. An emulator of another processor takes no filter, and has no such call.
 */
#ifndef SC_TESTS_SEALED_READS_H
#define SC_TESTS_SEALED_READS_H

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

/* The call fails with `error`. False: it does not fail. */
static inline bool seal_reads(int error)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)error),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof filter / sizeof filter[0], filter};
    struct iovec piece = {&program, sizeof program};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0)
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0);
    return process_vm_readv(getpid(), &piece, 1, &piece, 1, 0) < 0;
}

#endif
