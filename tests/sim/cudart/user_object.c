/* User objects, and the references that graphs hold to them. */
#include "runtime.h"

cudaError_t cudaUserObjectCreate(cudaUserObject_t *object_out, void *ptr, cudaHostFn_t destroy,
                                 unsigned int initialRefcount, unsigned int flags)
{
    ENTER(cudaUserObjectCreate_v11030, object_out, ptr, destroy, initialRefcount, flags);
    LEAVE(CALL(cuUserObjectCreate, object_out, ptr, destroy, initialRefcount, flags));
}

cudaError_t cudaUserObjectRetain(cudaUserObject_t object, unsigned int count)
{
    ENTER(cudaUserObjectRetain_v11030, object, count);
    LEAVE(CALL(cuUserObjectRetain, object, count));
}

cudaError_t cudaUserObjectRelease(cudaUserObject_t object, unsigned int count)
{
    ENTER(cudaUserObjectRelease_v11030, object, count);
    LEAVE(CALL(cuUserObjectRelease, object, count));
}

cudaError_t cudaGraphRetainUserObject(cudaGraph_t graph, cudaUserObject_t object,
                                      unsigned int count, unsigned int flags)
{
    ENTER(cudaGraphRetainUserObject_v11030, graph, object, count, flags);
    LEAVE(CALL(cuGraphRetainUserObject, graph, object, count, flags));
}

cudaError_t cudaGraphReleaseUserObject(cudaGraph_t graph, cudaUserObject_t object,
                                       unsigned int count)
{
    ENTER(cudaGraphReleaseUserObject_v11030, graph, object, count);
    LEAVE(CALL(cuGraphReleaseUserObject, graph, object, count));
}
