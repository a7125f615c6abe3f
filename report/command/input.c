#define _GNU_SOURCE 1
#include "report/command/input.h"

#include "report/command/regular_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BLOCK = 64 * 1024 };

/* ---- opening ---- */

/* Returns the number that a name of an own descriptor has, or -1. */
static int own_descriptor(const char *path)
{
    static const char *const folders[] = {"/dev/fd/", "/proc/self/fd/"};
    if (strcmp(path, "/dev/stdin") == 0)
        return STDIN_FILENO;
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
        size_t length = strlen(folders[i]), digits = strspn(path + length, "0123456789");
        if (strncmp(path, folders[i], length) == 0 && digits > 0 && digits < 10 &&
            path[length + digits] == '\0')
            return atoi(path + length);
    }
    return -1;
}

/* Returns a stream of our own over the descriptor, above those of standard input and output. */
static FILE *open_own(int fd, int *error)
{
    int own = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    FILE *stream = own >= 0 ? fdopen(own, "rb") : NULL;
    *error = stream ? 0 : -errno;
    if (own >= 0 && !stream)
        close(own);
    return stream;
}

/* Opens a report to read. A path such as /dev/stdin means our own descriptor, which is not opened
 * anew. */
FILE *sc_input_open(const char *path, int *error)
{
    int fd = own_descriptor(path);
    return fd >= 0 ? open_own(fd, error) : sc_regular_file_stream(path, 0, error);
}

/* Returns in words why reading has ended. */
const char *sc_input_error(int error)
{
    return error == -EFBIG ? "more than 64 MB of it are no lines of a report; the rest is not read"
                           : strerror(-error);
}

/* ---- reading ---- */

/* Returns how many bytes are left in the file. For a pipe, or a file that reports no size, there
 * is no limit: UINT64_MAX. */
static uint64_t size_of(FILE *stream)
{
    struct stat status;
    off_t at = ftello(stream);
    bool has_size = at >= 0 && fstat(fileno(stream), &status) == 0 && S_ISREG(status.st_mode) &&
                    status.st_size > 0;
    if (!has_size)
        return UINT64_MAX;
    return status.st_size > at ? (uint64_t)(status.st_size - at) : 0;
}

/* Begins to read lines from the stream. False: no memory. */
bool sc_input_init(struct sc_input *input, FILE *stream)
{
    *input = (struct sc_input){.stream = stream, .block = malloc(BLOCK), .left = size_of(stream)};
    return input->block != NULL;
}

void sc_input_free(struct sc_input *input)
{
    free(input->block);
    free(input->line);
}

/* Reads the next block. Returns 1; 0 at the end, or -errno. */
static int fill(struct sc_input *input)
{
    errno = 0;
    input->at = 0;
    input->size =
        fread(input->block, 1, input->left < BLOCK ? (size_t)input->left : BLOCK, input->stream);
    input->left -= input->size;
    if (input->size > 0)
        return 1;
    return ferror(input->stream) ? -(errno != 0 ? errno : EIO) : 0;
}

/* Makes room for `count` more bytes of the line. False: no memory. */
static bool make_room(struct sc_input *input, size_t count)
{
    size_t wanted = input->length + count;
    if (wanted <= input->capacity)
        return true;
    size_t capacity = wanted > 2 * input->capacity ? wanted : 2 * input->capacity;
    char *grown = realloc(input->line, capacity);
    if (!grown)
        return false;
    input->line = grown;
    input->capacity = capacity;
    return true;
}

/* Appends to the line, as far as a line may be long. Returns a negative value if memory runs out.
 */
static int append(struct sc_input *input, const char *bytes, size_t count)
{
    size_t room = SC_INPUT_LINE_MAX - input->length;
    if (count > room) {
        input->is_cut = true;
        count = room;
    }
    if (!make_room(input, count))
        return -ENOMEM;
    if (count > 0)
        memcpy(input->line + input->length, bytes, count);
    input->length += count;
    return 1;
}

/* Takes what the block has of the line. */
static int take(struct sc_input *input)
{
    const char *start = input->block + input->at;
    const char *newline = memchr(start, '\n', input->size - input->at);
    size_t count = newline ? (size_t)(newline - start) : input->size - input->at;
    input->at += count + (newline != NULL);
    input->taken += count + (newline != NULL);
    input->is_whole = newline != NULL;
    return append(input, start, count);
}

/* Were so many bytes of no use as a report (in lines that callers have refused, and in the present
 * one if it is too long) that the file is probably something else? */
static bool has_refused_enough(const struct sc_input *input)
{
    return input->refused + (input->is_cut ? input->taken : 0) > SC_INPUT_REFUSED_MAX;
}

/* Reads the next line, whether it ends with a newline or with the file. Returns 0 if there is none,
 * or a negative error if it cannot be read. */
int sc_input_next(struct sc_input *input)
{
    bool is_there = false;
    int result = 1;
    input->length = input->taken = 0;
    input->is_whole = input->is_cut = false;
    while (!input->is_whole) {
        if (has_refused_enough(input))
            return -EFBIG;
        if (input->at == input->size && (result = fill(input)) <= 0)
            break;
        is_there = true;
        if ((result = take(input)) < 0)
            break;
    }
    return result < 0 ? result : is_there;
}

/* Notes that the present line was none of a report's. */
void sc_input_refuse(struct sc_input *input)
{
    input->refused += input->taken;
}
