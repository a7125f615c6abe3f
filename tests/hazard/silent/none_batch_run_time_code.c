// expect: none
// sim: late_batch=1
//
// Code that is written while the program runs, and so has no unwind information, calls a function
// that sends a local of main's. It keeps in the frame pointer's register the address of two words
// that look like a frame, of a function with many locals: the local of main's could be one of them.
#include "batch.h"

#include <sys/mman.h>

enum { BYTES = 300, MANY = 16 << 10 };

struct frame {
    unsigned char local[BYTES];
    uintptr_t words[2]; /* an address further up the stack, and one in a function */
    uintptr_t above;
    unsigned char other[2 * MANY];
};

typedef void run_function(uintptr_t frame_pointer, void (*called)(void *), void *argument);

static cudaStream_t stream;
static void *device;

/* Sets the frame pointer, calls, and gives it back. */
static run_function *written_code(void)
{
#if defined(__x86_64__)
    static const unsigned char code[] = {
        0x55,             /* push %rbp */
        0x48, 0x89, 0xfd, /* mov %rdi, %rbp */
        0x48, 0x89, 0xd7, /* mov %rdx, %rdi */
        0xff, 0xd6,       /* call *%rsi */
        0x5d,             /* pop %rbp */
        0xc3,             /* ret */
    };
#elif defined(__aarch64__)
    static const uint32_t code[] = {
        0xa9bf7bfd, /* stp x29, x30, [sp, #-16]! */
        0xaa0003fd, /* mov x29, x0 */
        0xaa0203e0, /* mov x0, x2 */
        0xd63f0020, /* blr x1 */
        0xa8c17bfd, /* ldp x29, x30, [sp], #16 */
        0xd65f03c0, /* ret */
    };
#endif
    char *page =
        (char *)mmap(NULL, sizeof code, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memcpy(page, code, sizeof code);
    CHECK(mprotect(page, sizeof code, PROT_READ | PROT_EXEC));
    __builtin___clear_cache(page, page + sizeof code);
    return (run_function *)(uintptr_t)page;
}

static TWIN_HELPER uintptr_t address_of_caller(unsigned char *locals)
{
    locals[0] = 1;
    return (uintptr_t)__builtin_return_address(0);
}

static TWIN_HELPER uintptr_t address_within(void)
{
    unsigned char locals[MANY];
    uintptr_t address = address_of_caller(locals);
    fill(locals, MANY, FOREIGN);
    return address;
}

static void send(void *local)
{
    batch_copy(device, local, BYTES, cudaMemcpySrcAccessOrderStream, stream);
}

int main(void)
{
    struct frame frame;
    stream = new_stream();
    device = device_block(BYTES, 0);
    fill(frame.local, BYTES, WANTED);
    fill(frame.other, sizeof frame.other, WANTED);
    frame.words[0] = (uintptr_t)&frame.above;
    frame.words[1] = address_within();

    written_code()((uintptr_t)frame.words, send, frame.local);
    fill(frame.other, sizeof frame.other, FOREIGN);
    CHECK(cudaStreamSynchronize(stream));
    fill(frame.local, BYTES, FOREIGN);
    return finish(device_holds(device, BYTES, WANTED));
}
