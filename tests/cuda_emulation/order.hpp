#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace emulated {

/// Where an operation on device memory comes from: a call's name, or a kernel's code.
struct Site {
    const char* call = "a kernel";
    const void* code = nullptr;
};

/// What is known to have ended: by timeline, its operations up to this place. A stream is a timeline.
using Clock = std::vector<std::uint32_t>;
void join(Clock& into, const Clock& from);

/// What the host knows to have ended, and whether this operation has.
Clock& host_clock();
bool host_knows(std::uint32_t number);
bool host_knows_all(const Clock& clock);

/// Every operation has a number, which says its timeline and its place there; 0 is none.
using Number = std::uint32_t;

/// A stream's share of the order: its operations, one after another.
class Timeline {
public:
    Timeline();
    Timeline(const Timeline&) = delete;
    Timeline& operator=(const Timeline&) = delete;
    ~Timeline();

    /// A further operation, after what the stream waits for and what the host knows.
    Number next(Site site);
    void wait_for(const Clock& other) { join(clock_, other); }
    /// What has ended once the operations so far have.
    const Clock& clock() const { return clock_; }

private:
    std::uint32_t index_;
    Clock clock_;
};

/// While it lives, accesses to device memory are this operation's.
class AtWork {
public:
    AtWork(Number number, const Clock& clock);
    AtWork(const AtWork&) = delete;
    AtWork& operator=(const AtWork&) = delete;
    ~AtWork();

private:
    Number number_;
    const Clock* clock_;
};

/// Device memory as the order of operations sees it: [base, base + bytes). Null: there is none yet.
void watch_memory(const char* base, std::size_t bytes);
/// Nothing else lies so near on either side, so that an index that is wrong by 2³² bytes and more is seen.
constexpr std::size_t memory_margin = std::size_t{1} << 34;
/// Its cells of this size are told apart.
constexpr std::size_t cell_bytes = 4;

/// The operation at work accesses memory. Ends the process where another that is not ordered against it does too, one of
/// them to write.
void reads(const void* at, std::size_t bytes);
void writes(const void* at, std::size_t bytes);
/// A read whose values may not matter: a copy to the host of a whole buffer, of which only a part has been written.
void copies_out(const void* at, std::size_t bytes);
/// The same of one cell.
void reads_cell(std::size_t cell);
void writes_cell(std::size_t cell);

/// A new block's memory, of which nothing may be read before it is written; and a freed block's, of which the host must know
/// that all operations on it have ended. Blocks are of whole pages.
void memory_begins(const char* at, std::size_t bytes);
void memory_ends(const char* at, std::size_t bytes);

/// Where a site is, for a message.
const char* words(Site site);
Site site_of(Number number);

/// Says what is wrong and ends the process.
[[noreturn, gnu::format(printf, 1, 2)]] void broken(const char* format, ...);

}  // namespace emulated
