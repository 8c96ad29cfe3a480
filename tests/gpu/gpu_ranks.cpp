// Ranks of the kernel `cuda` together: messages, NCCL's communicators and memory, and which device is whose. Runs on the
// emulator, whose devices and calls a test can set.
#include <cstdlib>
#include <vector>

#include <catch2/catch.hpp>

#include <gnnbench/communicator.hpp>

#include "plugin/loader.hpp"

using namespace gnnbench;

namespace {

KernelSetting cuda() {
    static const PluginCatalog catalog;
    const ProcessGroup host = ProcessGroup::world().split_by_host();
    return {.local_rank = host.rank(),
            .local_ranks = host.size(),
            .params = Params(catalog.find(PluginKind::kernel, "cuda").params)};
}

std::shared_ptr<BackendPlugin> plugin() {
    static const PluginCatalog catalog;
    return catalog.kernel("cuda");
}

struct Ranks {
    ProcessGroup group = ProcessGroup::world();
    std::unique_ptr<Backend> backend = plugin()->create(cuda());
    VolumeCounter counter;
    Communicator world{backend->connect(group), *backend, counter};
    int rank = group.rank();

    Matrix filled(double value) {
        Matrix m = backend->matrix(8, 16);
        backend->fill(m, value);
        return m;
    }
    void wait(const Event& e) { backend->wait(StreamRole::compute, e); }
};

}  // namespace

TEST_CASE("a rank that sees one device has it for itself, and ranks that see the same one are told so") {
    const ProcessGroup group = ProcessGroup::world();
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
