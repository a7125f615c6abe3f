// expect-exit: 0
//
// Messages whose headers, addresses, control data and bytes all share their page with a buffer in
// flight.
#include "in_flight.h"

#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>

struct edge {
    char bytes[64];
    struct iovec piece;
    struct msghdr header;
    struct mmsghdr many[2];
    struct sockaddr_un peer;
    socklen_t peer_size;
    struct timespec soon;
    char control[CMSG_SPACE(sizeof(int))] __attribute__((aligned(8)));
};

static void lay_out(struct edge *edge, size_t size)
{
    edge->piece = (struct iovec){edge->bytes, size};
    edge->header = (struct msghdr){.msg_iov = &edge->piece, .msg_iovlen = 1};
    edge->many[0].msg_hdr = edge->many[1].msg_hdr = edge->header;
    edge->peer_size = sizeof edge->peer;
    edge->soon = (struct timespec){5, 0};
}

static void add_descriptor(struct edge *edge, int fd)
{
    edge->header.msg_control = edge->control;
    edge->header.msg_controllen = sizeof edge->control;
    struct cmsghdr *first = CMSG_FIRSTHDR(&edge->header);
    *first = (struct cmsghdr){
        .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(sizeof fd)};
    memcpy(CMSG_DATA(first), &fd, sizeof fd);
}

/* A socket that has a name, which fits into the edge. */
static int named(struct sockaddr_un *name, socklen_t *size)
{
    int fd = socket(AF_UNIX, SOCK_DGRAM, 0);
    *name = (struct sockaddr_un){.sun_family = AF_UNIX};
    CHECK(bind(fd, (struct sockaddr *)name, sizeof(sa_family_t)));
    CHECK(getsockname(fd, (struct sockaddr *)name, size));
    return fd;
}

int main(void)
{
    struct edge *edge = edge_start();
    int ends[2];
    CHECK(socketpair(AF_UNIX, SOCK_DGRAM, 0, ends));
    memcpy(edge->bytes, "hello", 6);
    lay_out(edge, 6);
    add_descriptor(edge, ends[0]);
    SHOW_BESIDE(send(ends[0], edge->bytes, 6, 0));
    SHOW_BESIDE(sendmsg(ends[0], &edge->header, 0));
    SHOW_BESIDE(sendmmsg(ends[0], edge->many, 2, 0));
    memset(edge->bytes, 0, sizeof edge->bytes);
    SHOW_BESIDE(recv(ends[1], edge->bytes, 64, 0));
    SHOW_BESIDE(recvmsg(ends[1], &edge->header, 0));
    SHOW(edge->header.msg_controllen);
    SHOW_BESIDE(recvmmsg(ends[1], edge->many, 2, 0, &edge->soon));
    SHOW(edge->many[1].msg_len);
    puts(edge->bytes);

    int left = named(&edge->peer, &(socklen_t){sizeof edge->peer});
    socklen_t size = sizeof edge->peer;
    int right = named(&edge->peer, &size);
    SHOW_BESIDE(sendto(left, edge->bytes, 6, 0, (struct sockaddr *)&edge->peer, size));
    SHOW_BESIDE(
        recvfrom(right, edge->bytes, 64, 0, (struct sockaddr *)&edge->peer, &edge->peer_size));
    SHOW(edge->peer.sun_family == AF_UNIX && edge->peer_size < sizeof edge->peer);
    SHOW_BESIDE(recv(right, edge->bytes, 64, MSG_DONTWAIT));
    return 0;
}
