// Which accesses to device memory are ordered: vector clocks of streams and of the host, and for each cell of memory the last
// operation that wrote it and those that have read it since.
#include <algorithm>
#include <array>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>

#include <dlfcn.h>
#include <sys/mman.h>

#include "emulated.hpp"
#include "order.hpp"

namespace emulated {
namespace {

constexpr int place_bits = 24;
constexpr std::uint32_t most_timelines = 1u << (32 - place_bits), most_places = 1u << place_bits;

std::uint32_t timeline_of(Number n) { return n >> place_bits; }
std::uint32_t place_of(Number n) { return n & (most_places - 1); }

/// One more than there are streams at work on a rank; where more read at once, some are forgotten.
constexpr std::size_t readers = 3;
struct Cell {
    Number written = 0;
    std::array<Number, readers> read{};
};

/// A number for memory that nothing has written since it was allocated.
constexpr Number never = ~Number{0};

struct Timelines {
    std::vector<std::vector<Site>> sites;  ///< by timeline and place; place 0 is none
    std::vector<std::uint32_t> free;
    Clock host;
} timelines;

struct Memory {
    const char* base = nullptr;
    std::size_t bytes = 0;
    Cell* cells = nullptr;
    std::vector<bool> used;  ///< by page: whether its cells say anything
} memory;

constexpr std::size_t page_cells = 4096 / cell_bytes;

Number number_at_work = 0;
const Clock* clock_at_work = nullptr;

bool knows(const Clock& clock, Number n) {
    const std::uint32_t t = timeline_of(n);
    return t < clock.size() && clock[t] >= place_of(n);
}

[[noreturn]] void unordered(std::size_t cell, const char* earlier, Number by, const char* now) {
    const std::string other = words(site_of(by));
    broken("device memory at %p %s %s in stream %u, without order to %s %s in stream %u",
           static_cast<const void*>(memory.base + cell * cell_bytes), earlier, other.c_str(), timeline_of(by), now,
           words(site_of(number_at_work)), timeline_of(number_at_work));
}

void each_cell(const void* at, std::size_t bytes, auto&& touch) {
    if (bytes == 0) return;
    const auto first = static_cast<std::size_t>(static_cast<const char*>(at) - memory.base);
    if (first >= memory.bytes) return;  // the host's
    for (std::size_t cell = first / cell_bytes; cell <= (first + bytes - 1) / cell_bytes; ++cell) touch(cell);
}

}  // namespace

void join(Clock& into, const Clock& from) {
    if (into.size() < from.size()) into.resize(from.size());
    for (std::size_t t = 0; t < from.size(); ++t) into[t] = std::max(into[t], from[t]);
}

Clock& host_clock() { return timelines.host; }
bool host_knows_all(const Clock& clock) {
    Clock both = timelines.host;
    join(both, clock);
    return both == timelines.host;
}
bool host_knows(Number n) { return knows(timelines.host, n); }

Timeline::Timeline() {
    if (timelines.free.empty()) {
        index_ = static_cast<std::uint32_t>(timelines.sites.size());
        if (index_ + 1 >= most_timelines) broken("more than %u streams at once", most_timelines - 2);
        timelines.sites.emplace_back(1);
    } else {
        index_ = timelines.free.back();
        timelines.free.pop_back();
    }
}
// A stream that is made later goes on where this one ended: its places stay in clocks and cells.
Timeline::~Timeline() { timelines.free.push_back(index_); }

Number Timeline::next(Site site) {
    auto& sites = timelines.sites[index_];
    const auto place = static_cast<std::uint32_t>(sites.size());
    if (place >= most_places) broken("more than %u operations in a stream", most_places - 1);
    sites.push_back(site);
    join(clock_, timelines.host);
    if (clock_.size() <= index_) clock_.resize(index_ + 1);
    clock_[index_] = place;
    return index_ << place_bits | place;
}

AtWork::AtWork(Number number, const Clock& clock) : number_(number_at_work), clock_(clock_at_work) {
    number_at_work = number;
    clock_at_work = &clock;
}
AtWork::~AtWork() {
    number_at_work = number_;
    clock_at_work = clock_;
}

void watch_memory(const char* base, std::size_t bytes) {
    void* cells = mmap(nullptr, bytes / cell_bytes * sizeof(Cell), PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (cells == MAP_FAILED) broken("no address space for what is known of device memory");
    memory = {base, bytes, static_cast<Cell*>(cells), std::vector<bool>(bytes / cell_bytes / page_cells)};
}

namespace {

/// Of accesses that are declared; those of kernels are seen one by one.
void require_block(const void* at, std::size_t bytes, const char* does) {
    const auto first = static_cast<std::size_t>(static_cast<const char*>(at) - memory.base);
    if (bytes > 0 && first < memory.bytes && !within_block(at, bytes))
        broken("%s %s %zu bytes at %p, which no block of device memory has", words(site_of(number_at_work)), does,
               bytes, at);
}

void copies_out_cell(std::size_t at) {
    Cell& cell = memory.cells[at];
    memory.used[at / page_cells] = true;
    if (cell.written != never && cell.written != 0 && cell.written != number_at_work &&
        !knows(*clock_at_work, cell.written))
        unordered(at, "is written by", cell.written, "a read by");
    // In the place of an earlier read that this one comes after, if there is one.
    Number* to = cell.read.data();
    for (Number& read : cell.read)
        if (read == 0 || read == number_at_work || knows(*clock_at_work, read)) {
            to = &read;
            break;
        }
    *to = number_at_work;
}

}  // namespace

void reads_cell(std::size_t at) {
    if (memory.cells[at].written == never)
        broken("%s reads device memory at %p that nothing has written since it was allocated",
               words(site_of(number_at_work)), static_cast<const void*>(memory.base + at * cell_bytes));
    copies_out_cell(at);
}

void writes_cell(std::size_t at) {
    Cell& cell = memory.cells[at];
    memory.used[at / page_cells] = true;
    if (cell.written != never && cell.written != 0 && cell.written != number_at_work &&
        !knows(*clock_at_work, cell.written))
        unordered(at, "is written by", cell.written, "a write by");
    for (Number& read : cell.read) {
        if (read != 0 && read != number_at_work && !knows(*clock_at_work, read))
            unordered(at, "is read by", read, "a write by");
        read = 0;
    }
    cell.written = number_at_work;
}

void reads(const void* at, std::size_t bytes) {
    require_block(at, bytes, "reads");
    each_cell(at, bytes, reads_cell);
}
void writes(const void* at, std::size_t bytes) {
    require_block(at, bytes, "writes");
    each_cell(at, bytes, writes_cell);
}
void copies_out(const void* at, std::size_t bytes) {
    require_block(at, bytes, "reads");
    each_cell(at, bytes, copies_out_cell);
}

void memory_begins(const char* at, std::size_t bytes) {
    each_cell(at, bytes, [](std::size_t cell) {
        memory.cells[cell] = {.written = never};
        memory.used[cell / page_cells] = true;
    });
}

void memory_ends(const char* at, std::size_t bytes) {
    if (!memory.cells) return;
    const auto ended = [](Number n) { return n == 0 || n == never || host_knows(n); };
    const auto first = static_cast<std::size_t>(at - memory.base) / cell_bytes, end = first + bytes / cell_bytes;
    for (std::size_t page = first / page_cells; page * page_cells < end; ++page) {
        if (!memory.used[page]) continue;
        memory.used[page] = false;
        for (std::size_t cell = page * page_cells; cell < (page + 1) * page_cells; ++cell) {
            const Cell c = std::exchange(memory.cells[cell], {});
            for (const Number n : {c.written, c.read[0], c.read[1], c.read[2]})
                if (!ended(n))
                    broken(
                        "device memory at %p is freed or returned to a pool before the host knows that %s has "
                        "ended",
                        static_cast<const void*>(memory.base + cell * cell_bytes), words(site_of(n)));
        }
    }
}

Site site_of(Number n) { return timelines.sites[timeline_of(n)][place_of(n)]; }

const char* words(Site site) {
    static std::string text;
    text = site.call;
    Dl_info in{};
    if (!site.code || dladdr(site.code, &in) == 0 || !in.dli_fname) return text.c_str();
    // Kernels have no names that the dynamic linker knows; the debugger's tools know them.
    char command[4400], line[2000] = "";
    std::snprintf(command, sizeof command, "addr2line -s -f -C -e '%s' %#tx 2>/dev/null", in.dli_fname,
                  static_cast<const char*>(site.code) - static_cast<const char*>(in.dli_fbase));
    std::FILE* pipe = popen(command, "r");
    if (!pipe) return text.c_str();
    for (const char* separator = " "; std::fgets(line, sizeof line, pipe); separator = " at ") {
        line[std::strcspn(line, "\n")] = '\0';
        text += separator;
        text += line;
    }
    pclose(pipe);
    return text.c_str();
}

void broken(const char* format, ...) {
    std::va_list arguments;
    va_start(arguments, format);
    std::fputs("emulated device: ", stderr);
    std::vfprintf(stderr, format, arguments);
    std::fputc('\n', stderr);
    va_end(arguments);
    std::abort();
}

}  // namespace emulated
