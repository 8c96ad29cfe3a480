#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include <gnnbench/matrix.hpp>
#include <gnnbench/transport.hpp>

/// Device memory of back ends that compute on the host, where the other ranks of the host can reach it, and the
/// transport that uses this: what a rank receives it reads where the sender has it (docs/decisions/shared-memory.md).

namespace gnnbench {

class MappedRange;

/// One range of addresses per rank and back end, backed by a file without a name (memfd): nothing is left behind when
/// the process ends, however it ends. The file is sparse, so the range may be as large as the machine's memory.
class SharedHostMemory {
public:
    /// `local_ranks`: ranks of this host, which all map each other's range. nullptr where Linux gives none.
    static std::shared_ptr<SharedHostMemory> make(int local_ranks);
    ~SharedHostMemory();
    SharedHostMemory(const SharedHostMemory&) = delete;
    SharedHostMemory& operator=(const SharedHostMemory&) = delete;

    /// Aligned to a cache line; from 4 MiB on to huge pages, which it then has where Linux gives them. nullptr if the
    /// range is full.
    void* allocate(std::size_t bytes) noexcept;
    void free(void* data) noexcept;
    bool holds(const void* data) const noexcept;

    /// What another process needs to map it. The token tells whether it mapped the right file.
    struct Address {
        std::int64_t process = 0, descriptor = 0;
        std::uint64_t bytes = 0, token = 0;
    };
    Address address() const { return address_; }
    std::byte* base() const { return base_; }

private:
    SharedHostMemory(std::unique_ptr<MappedRange> range, Address address);

    std::unique_ptr<MappedRange> range_;
    std::byte* base_;
    Address address_;
    std::map<std::size_t, std::size_t> free_, used_;  ///< first byte → bytes; free runs never touch each other
};

/// How a back end moves bytes of its memory: on its threads, past the caches where that pays.
struct HostMoves {
    std::function<void(const void* from, void* to, std::size_t bytes)> copy;
    /// to[i] ← from[rows[i]]
    std::function<void(ConstMatrixView from, const std::int32_t* rows, MatrixView to)> gather;
    /// to[rows[i]] += from[i]
    std::function<void(ConstMatrixView from, const std::int32_t* rows, MatrixView to)> add;
};

/// The transport for back ends whose device memory is host memory, by way of `memory` if all ranks of the group are on
/// one host and have it, else MPI's. Collective; ranks without memory pass nullptr. `made` says which it is and why.
std::unique_ptr<Transport> make_shared_transport(const ProcessGroup& group,
                                                 std::shared_ptr<SharedHostMemory> memory, HostMoves moves,
                                                 std::string& made);

}  // namespace gnnbench
