// Loaded before other libraries into the launcher of a trial whose ranks are all on this host (LD_PRELOAD, see
// launch/environment.cpp): a TCP socket that would be bound to every interface is bound to the loopback one. Open MPI's
// mpirun has no parameter for its own (docs/decisions/loopback-only.md).
#include <dlfcn.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cstring>

namespace {

bool is_stream(int socket) {
    int type = 0;
    socklen_t length = sizeof type;
    return getsockopt(socket, SOL_SOCKET, SO_TYPE, &type, &length) == 0 && type == SOCK_STREAM;
}

/// The address to bind to in place of `wanted`: in `room`, or `wanted` itself.
const sockaddr* on_loopback(const sockaddr* wanted, socklen_t length, sockaddr_storage& room) {
    if (!wanted || length > sizeof room) return wanted;
    std::memcpy(&room, wanted, length);
    if (wanted->sa_family == AF_INET && length >= sizeof(sockaddr_in)) {
        auto& address = reinterpret_cast<sockaddr_in&>(room).sin_addr.s_addr;
        if (address == htonl(INADDR_ANY)) address = htonl(INADDR_LOOPBACK);
    } else if (wanted->sa_family == AF_INET6 && length >= sizeof(sockaddr_in6)) {
        auto& address = reinterpret_cast<sockaddr_in6&>(room).sin6_addr;
        if (IN6_IS_ADDR_UNSPECIFIED(&address)) address = in6addr_loopback;
    }
    return reinterpret_cast<const sockaddr*>(&room);
}

}  // namespace

extern "C" [[gnu::visibility("default")]] int bind(int socket, const sockaddr* address,
                                                   socklen_t length) noexcept {
    using Bind = int (*)(int, const sockaddr*, socklen_t);
    static const auto next = reinterpret_cast<Bind>(dlsym(RTLD_NEXT, "bind"));
    sockaddr_storage room{};
    return next(socket, is_stream(socket) ? on_loopback(address, length, room) : address, length);
}
