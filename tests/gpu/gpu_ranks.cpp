// Ranks of the kernel `cuda` together: messages, NCCL's communicators and memory, and which device is whose. Runs on the
// emulator, whose devices and calls a test can set.
#include <chrono>
#include <cstdlib>
#include <thread>
#include <vector>

#include <gnnbench/communicator.hpp>

#include "cuda_kernel.hpp"
#include "mpi/mpi.hpp"

using namespace gnnbench;

namespace {

KernelSetting cuda(const std::string& transport = "auto") {
    const ProcessGroup host = mpi_world().split_by_host();
    KernelSetting s{.local_rank = host.rank(),
                    .local_ranks = host.size(),
                    .is_rank = true,
                    .params = Params(gpu_tests::catalog().find(PluginKind::kernel, "cuda").params)};
    gpu_tests::set(s, "transport", transport);
    return s;
}

std::shared_ptr<BackendPlugin> plugin() { return gpu_tests::catalog().kernel("cuda"); }

struct Ranks {
    std::string transport = "auto";
    ProcessGroup group = mpi_world();
    std::unique_ptr<Backend> backend = plugin()->create(cuda(transport));
    VolumeCounter counter = {};
    Communicator world{backend->connect(group), *backend, counter};
    int rank = group.rank();

    Matrix filled(double value) {
        Matrix m = backend->matrix(8, 16);
        backend->fill(m, value);
        return m;
    }
    void wait(const Event& e) { backend->wait(StreamRole::compute, e); }
};

void rest() { std::this_thread::sleep_for(std::chrono::milliseconds(60)); }

}  // namespace

TEST_CASE("each exchange is under way from its start until its own messages are there") {
    Ranks r;
    REQUIRE(r.group.size() == 3);
    const Matrix a = r.filled(r.rank), b = r.filled(r.rank), c = r.filled(r.rank);
    r.backend->synchronize(StreamRole::compute);
    r.group.barrier();
    r.backend->trace().begin_epoch();
    Event first, second;
    // 0 sends `a` to 1 after a while, and `b` after another. 1 has nothing to send at first, then `c`, to 2.
    if (r.rank == 0) {
        rest();
        const RowMessage out{1, a};
        first = r.world.exchange({&out, 1}, {});
        rest();
        const RowMessage more{1, b};
        second = r.world.exchange({&more, 1}, {});
    } else if (r.rank == 1) {
        const RowMessage in{0, a}, more{0, b}, out{2, c};
        first = r.world.exchange({}, {&in, 1});
        second = r.world.exchange({&out, 1}, {&more, 1});
    } else {
        const RowMessage in{1, c};
        second = r.world.exchange({}, {&in, 1});
    }
    r.wait(first);
    r.wait(second);
    r.backend->trace().end_epoch();
    const auto spans = r.backend->trace().spans();
    const auto value = [&](const Matrix& m) { return r.backend->download(m).values.front(); };
    if (r.rank == 1) {
        CHECK(value(a) == 0);
        CHECK(value(b) == 0);
        REQUIRE(spans.size() == 2);
        CHECK(spans[0].end_s - spans[0].begin_s > 0.04);
        CHECK(spans[1].begin_s >= spans[0].end_s);
        CHECK(spans[1].end_s - spans[1].begin_s > 0.04);
    } else if (r.rank == 2) {
        CHECK(value(c) == 1);
        REQUIRE(spans.size() == 1);
        CHECK(spans[0].end_s - spans[0].begin_s > 0.04);
    }
}

TEST_CASE("through host memory a rank goes on with the message that is there, while another is on its way") {
    Ranks r{.transport = "staged"};
    const Matrix a = r.filled(r.rank), b = r.filled(r.rank);
    // 0 sends `a` to 2 only when 2 has gone on with `b`, which comes from 1.
    if (r.rank == 2) {
        const std::vector<RowMessage> in = {{0, a}, {1, b}};
        const std::vector<Event> events = r.world.exchange_each({}, in);
        REQUIRE(events.size() == 3);
        std::vector<bool> done(2);
        const auto next = [&] {
            return r.backend->wait_any(StreamRole::compute, std::span(events).first(2), done);
        };
        REQUIRE(next() == 1);
        CHECK(r.backend->download(b).values.front() == 1);
        done[1] = true;
        r.group.barrier();
        REQUIRE(next() == 0);
        CHECK(r.backend->download(a).values.front() == 0);
        return;
    }
    if (r.rank == 0) r.group.barrier();
    const RowMessage out{2, r.rank == 0 ? a : b};
    const std::vector<Event> events = r.world.exchange_each({&out, 1}, {});
    CHECK(events.size() == 1);
    r.wait(events.back());
    if (r.rank == 1) r.group.barrier();
}

TEST_CASE("parts of a communicator come from it, after its work is done") {
    Ranks r;
    const Matrix m = r.filled(r.rank + 1);
    const Event under_way = r.world.all_reduce(m);
    setenv("GNNBENCH_EMULATED_NCCL_INIT", "0", 1);  // no further communicator out of nothing
    // Ranks 2 and 0, in this order, and rank 1 alone.
    Communicator part = r.world.split(r.rank % 2, -r.rank), aside = r.world.aside();
    unsetenv("GNNBENCH_EMULATED_NCCL_INIT");
    CHECK(part.size() == (r.rank == 1 ? 1 : 2));
    CHECK(part.rank() == (r.rank == 0 ? 1 : 0));
    CHECK(aside.rank() == r.rank);
    const Matrix own = r.filled(r.rank + 1), other = r.filled(r.rank + 1);
    part.all_reduce_now(own);
    aside.all_reduce_now(other);
    r.wait(under_way);
    CHECK(r.backend->download(m).values.front() == 6);
    CHECK(r.backend->download(own).values.front() == (r.rank == 1 ? 2 : 4));
    CHECK(r.backend->download(other).values.front() == 6);
}

TEST_CASE("memory that NCCL takes counts from when it takes it until its communicator ends") {
    const ProcessGroup group = mpi_world();
    const auto backend = plugin()->create(cuda());
    const auto bytes = [&] { return backend->memory().current_bytes; };
    const Matrix m = backend->matrix(8, 16);
    backend->fill(m, 1);
    const std::int64_t alone = bytes();
    {
        VolumeCounter counter;
        Communicator world(backend->connect(group), *backend, counter);
        const std::int64_t connected = bytes();
        CHECK(connected > alone);
        const int right = (group.rank() + 1) % group.size(),
                  left = (group.rank() + group.size() - 1) % group.size();
        const Matrix in = backend->matrix(8, 16);
        const std::int64_t before = bytes();
        const RowMessage out{right, m}, from{left, in};
        world.exchange_now({&out, 1}, {&from, 1});
        const std::int64_t with_peers = bytes();
        CHECK(with_peers > before);
        CHECK(backend->memory().peak_bytes >= with_peers);
        world.exchange_now({&out, 1}, {&from, 1});
        CHECK(bytes() == with_peers);
        {
            const Communicator part = world.split(0, group.rank());
            CHECK(bytes() > with_peers);
        }
        CHECK(bytes() == with_peers);
        backend->synchronize(StreamRole::compute);
    }
    CHECK(bytes() == alone);
}

TEST_CASE("a rank that sees one device has it for itself, and ranks that see the same one are told so") {
    const ProcessGroup group = mpi_world();
    setenv("CUDA_VISIBLE_DEVICES", std::to_string(group.rank()).c_str(), 1);
    CHECK(plugin()->why_unsupported(cuda()) == "");
    CHECK(plugin()->device_name(cuda()) == "emulated device");
    {
        Ranks r;
        CHECK_THAT(r.backend->notes(), Catch::StartsWith("cuda: transport nccl") && !Catch::Contains("share"));
        const Matrix m = r.filled(r.rank + 1);
        r.world.all_reduce_now(m);
        CHECK(r.backend->download(m).values.front() == 6);
    }
    setenv("CUDA_VISIBLE_DEVICES", "1", 1);
    const auto backend = plugin()->create(cuda());
    CHECK_THROWS_WITH(backend->connect(group), Catch::Contains("ranks 0 and 1 of ") &&
                                                   Catch::Contains("both have device") &&
                                                   Catch::Contains("share_devices: true"));
    unsetenv("CUDA_VISIBLE_DEVICES");
}
