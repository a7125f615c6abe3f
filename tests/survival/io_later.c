// expect-exit: 0
// strict-says: a_thread_has_SIGSEGV_blocked
//
// Asynchronous requests whose buffer, and who themselves, lie on a page with the target of a copy
// that goes in flight after they were made: glibc's threads perform them, with all signals blocked.
// And a stream's own buffer lies there.
#include "in_flight.h"

#include <aio.h>
#include <pthread.h>
#include <sys/socket.h>

enum { BYTES = 64 };

struct edge {
    struct aiocb reading, writing;
    struct aiocb64 other;
    char into[BYTES], from[BYTES], into_other[BYTES], stream[256];
};

static struct edge *edge;
static int ends[2];

static long finish(struct aiocb *request)
{
    const struct aiocb *const list[] = {request};
    while (aio_error(request) == EINPROGRESS)
        aio_suspend(list, 1, NULL);
    return aio_error(request) ? -aio_error(request) : aio_return(request);
}

static struct aiocb request(char *bytes, int operation)
{
    return (struct aiocb){
        .aio_fildes = ends[0], .aio_buf = bytes, .aio_nbytes = BYTES, .aio_lio_opcode = operation};
}

/* Nothing comes until the copy is in flight, and the thread has got into its call; if it is late,
 * the test is merely easier. */
static void feed(void)
{
    usleep(20000);
    hold();
    CHECK(write(ends[1], "some bytes", 10) - 10);
}

static void drain(void)
{
    char bytes[BYTES];
    CHECK(read(ends[1], bytes, BYTES) - BYTES);
}

static void reads(void)
{
    memset(edge, 0, sizeof *edge);
    edge->reading = request(edge->into, LIO_READ);
    CHECK(aio_read(&edge->reading));
    feed();
    SHOW(finish(&edge->reading));
    release();
    SHOW(strcmp(edge->into, "some bytes"));
}

static void reads64(void)
{
    struct aiocb plain = request(edge->into_other, LIO_READ);
    memcpy(&edge->other, &plain, sizeof edge->other);
    CHECK(aio_read64(&edge->other));
    feed();
    SHOW(finish((struct aiocb *)&edge->other));
    release();
    SHOW(strcmp(edge->into_other, "some bytes"));
}

static void list(void)
{
    struct aiocb *const both[] = {&edge->reading, NULL, &edge->writing};
    memset(edge, 0, sizeof *edge);
    memset(edge->from, 'w', BYTES);
    edge->reading = request(edge->into, LIO_READ);
    edge->writing = request(edge->from, LIO_WRITE);
    CHECK(lio_listio(LIO_NOWAIT, both, 3, NULL));
    feed();
    SHOW(finish(&edge->reading));
    SHOW(finish(&edge->writing));
    release();
    drain();
    SHOW(strcmp(edge->into, "some bytes"));
}

/* The buffer is filled and written by libc at its own time. */
static void stream(void)
{
    FILE *both = fdopen(dup(ends[0]), "r+");
    char line[BYTES];
    CHECK(setvbuf(both, edge->stream, _IOFBF, sizeof edge->stream));
    CHECK(write(ends[1], "a line\n", 7) - 7);
    SHOW_BESIDE(fgets(line, BYTES, both) == line);
    SHOW(strcmp(line, "a line\n"));
    fclose(both);
}

int main(void)
{
    edge = (struct edge *)edge_start();
    _Static_assert(sizeof *edge <= EDGE, "lies beside the buffer");
    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends));
    reads();
    reads64();
    list();
    stream();
    return 0;
}
