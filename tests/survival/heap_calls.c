// expect-exit: 0
//
// Everything that the heap offers, with buffers registered, so that the hooks look at every
// pointer: results, errno and contents are the C library's.
#include "survival.h"

#include <malloc.h>

static void aligned_blocks(void)
{
    void *block = NULL;
    SHOW(posix_memalign(&block, 64, 1000));
    SHOW((uintptr_t)block % 64);
    free(block);
    SHOW(posix_memalign(&block, 3, 1000));
    block = aligned_alloc(4096, 8192);
    SHOW((uintptr_t)block % 4096);
    SHOW(malloc_usable_size(block) >= 8192);
    free(block);
    block = memalign(65536, 10);
    SHOW((uintptr_t)block % 65536);
    block = realloc(block, 100000);
    SHOW(block != NULL);
    free(block);
    block = valloc(100);
    SHOW((uintptr_t)block % 4096);
    free(block);
}

/* Out of line: the block is used again, which is right only because the call fails. */
static SURVIVAL_HELPER bool refused(void *block, size_t count, size_t size)
{
    errno = 0;
    void *moved = count > 1 ? reallocarray(block, count, size) : realloc(block, size);
    return !moved && errno == ENOMEM;
}

static void resized_blocks(void)
{
    char *text = strdup("kept through every move");
    for (size_t size = 32; size < (1u << 21); size *= 4) {
        text = (char *)realloc(text, size);
        if (!text || strcmp(text, "kept through every move") != 0)
            puts("lost");
    }
    text = (char *)realloc(text, 32);
    SHOW(strlen(text));
    SHOW(refused(text, SIZE_MAX / 2, 4));
    SHOW(refused(text, 1, SIZE_MAX - 100));
    SHOW(strcmp(text, "kept through every move"));
    SHOW(realloc(text, 0) == NULL);
    text = (char *)realloc(NULL, 50);
    SHOW(text != NULL);
    text = (char *)reallocarray(text, 5, 50);
    SHOW(malloc_usable_size(text) >= 250);
    free(text);
    SHOW(malloc_usable_size(NULL));
}

static void library_blocks(void)
{
    char *line = NULL;
    size_t room = 0;
    char *printed = NULL;
    FILE *memory = fmemopen(strdup("first\nsecond\n"), 13, "r");
    SHOW(getline(&line, &room, memory));
    SHOW(getline(&line, &room, memory));
    SHOW(getline(&line, &room, memory));
    free(line);
    SHOW(fclose(memory));
    SHOW(asprintf(&printed, "%d-%s", 12, "text"));
    free(printed);
    printed = realpath("/usr/..", NULL);
    printf("%s\n", printed);
    free(printed);
    free(NULL);
    SHOW(mallopt(M_MMAP_THRESHOLD, 1 << 16));
    free(malloc(1 << 20));
    SHOW(malloc_trim(0) >= 0);
}

int main(void)
{
    void *registered = malloc(1 << 16);
    use_cuda("before");
    CHECK(cudaHostRegister(registered, 1 << 16, cudaHostRegisterDefault));
    aligned_blocks();
    resized_blocks();
    library_blocks();
    CHECK(cudaHostUnregister(registered));
    free(registered);
    return 0;
}
