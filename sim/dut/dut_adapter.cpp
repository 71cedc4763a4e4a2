// Binds the pins of a Verilated top (class Vdut) to sim::Dut. Compiled once a variant, with these macros:
//   DUT_NAME         name of the top module, a string
//   DUT_DATA_BYTES   bytes of m_axi_wdata, 8..128
//   DUT_MAC_BYTES    bytes of s_axis_rx_tdata
//   DUT_TARGETS(X)   X(n, name_) for the AXI master m_axi_<name>_* of each target n, X(0, ) for m_axi_*; in
//   dut_targets.h DUT_HAS_MAC_CLK  1 if the top has clk_mac and rst_mac DUT_TRACE        1 if Verilated with
//   --trace-fst DUT_COVERAGE     1 if Verilated with --coverage-line: each instance writes its counts to
//   $ROCEGEN_COVERAGE.<n>
//                    (coverage.dat.<n> without that variable), for verilator_coverage
#include "sim/dut/dut_adapter.h"

#include <verilated.h>

#include <cstring>

#include "Vdut.h"
#include "dut_targets.h"
#ifndef DUT_COVERAGE
#define DUT_COVERAGE 0
#endif
#if DUT_COVERAGE
#include <verilated_cov.h>

#include <cstdlib>
#endif
#if DUT_TRACE
#include <verilated_fst_c.h>
#endif

namespace rocegen::sim {
namespace {

constexpr size_t kData = DUT_DATA_BYTES;
constexpr size_t kMac = DUT_MAC_BYTES;

/// Verilator holds a signal as an 8, 16, 32 or 64-bit integer or as an array of 32-bit words, least significant first:
/// on a little-endian host its first bytes are the signal's bytes in order.
template <size_t N, typename Signal>
void put(Signal& signal, const uint8_t* bytes) {
  static_assert(sizeof(Signal) >= N);
  std::memcpy(&signal, bytes, N);
}
template <size_t N, typename Signal>
void get(uint8_t* bytes, const Signal& signal) {
  static_assert(sizeof(Signal) >= N);
  std::memcpy(bytes, &signal, N);
}

class VerilatedDut : public Dut {
 public:
  explicit VerilatedDut(const std::string& name) {
    info_.name = DUT_NAME;
    info_.data_bytes = kData;
    info_.mac_bytes = kMac;
    info_.has_mac_clk = DUT_HAS_MAC_CLK != 0;
#define COUNT_AXI(N, T) +1
    info_.targets = 0 DUT_TARGETS(COUNT_AXI);
#undef COUNT_AXI
    context_.fatalOnError(false);
    // Registers without reset start at random, the same way every time.
    context_.randReset(2);
    context_.randSeed(static_cast<int>(1 + name.size() + static_cast<unsigned char>(name.empty() ? 'a' : name.back())));
#if DUT_TRACE
    context_.traceEverOn(true);
#endif
    top_ = std::make_unique<Vdut>(&context_, name.c_str());
  }

  ~VerilatedDut() override {
    top_->final();
#if DUT_COVERAGE
    static int number = 0;
    const char* const file = std::getenv("ROCEGEN_COVERAGE");
    const std::string path = std::string(file != nullptr ? file : "coverage.dat") + "." + std::to_string(++number);
    context_.coveragep()->write(path.c_str());
#endif
#if DUT_TRACE
    if (trace_) trace_->close();
#endif
  }

  const DutInfo& info() const override { return info_; }

  void set_time(Ps at_settle, Ps at_edge) override {
    settle_time_ = at_settle;
    edge_time_ = at_edge;
  }

  void settle() override {
    context_.time(settle_time_);
    top_->clk = 0;
#if DUT_HAS_MAC_CLK
    top_->clk_mac = 0;
    top_->rst_mac = in.rst_mac;
#endif
    top_->rst = in.rst;
    top_->s_axis_rx_tvalid = in.rx_valid;
    if (in.rx_valid) {
      put<kMac>(top_->s_axis_rx_tdata, in.rx_data);
      put<(kMac + 7) / 8>(top_->s_axis_rx_tkeep, in.rx_keep);
      top_->s_axis_rx_tlast = in.rx_last;
      top_->s_axis_rx_tuser = in.rx_bad;
    }
    top_->m_axis_tx_tready = in.tx_ready;
#define PUT_AXI(N, T) put_axi_##N();
    DUT_TARGETS(PUT_AXI)
#undef PUT_AXI
    top_->s_axil_awvalid = in.axil_awvalid;
    top_->s_axil_awaddr = in.axil_awaddr;
    top_->s_axil_awprot = 0;
    top_->s_axil_wvalid = in.axil_wvalid;
    top_->s_axil_wdata = in.axil_wdata;
    top_->s_axil_wstrb = 0xF;
    top_->s_axil_bready = in.axil_bready;
    top_->s_axil_arvalid = in.axil_arvalid;
    top_->s_axil_araddr = in.axil_araddr;
    top_->s_axil_arprot = 0;
    top_->s_axil_rready = in.axil_rready;
    top_->s_axis_wqe_tvalid = in.wqe_valid;
    if (in.wqe_valid) put<64>(top_->s_axis_wqe_tdata, in.wqe);
    top_->s_axis_rqe_tvalid = in.rqe_valid;
    if (in.rqe_valid) put<32>(top_->s_axis_rqe_tdata, in.rqe);
    top_->m_axis_cqe_tready = in.cqe_ready;
    top_->eval();
    dump();

    out.rx_ready = top_->s_axis_rx_tready != 0;
    out.tx_valid = top_->m_axis_tx_tvalid != 0;
    if (out.tx_valid) {
      get<kMac>(out.tx_data, top_->m_axis_tx_tdata);
      get<(kMac + 7) / 8>(out.tx_keep, top_->m_axis_tx_tkeep);
      out.tx_last = top_->m_axis_tx_tlast != 0;
    }
#define GET_AXI(N, T) get_axi_##N();
    DUT_TARGETS(GET_AXI)
#undef GET_AXI
    out.axil_awready = top_->s_axil_awready != 0;
    out.axil_wready = top_->s_axil_wready != 0;
    out.axil_bvalid = top_->s_axil_bvalid != 0;
    out.axil_bresp = top_->s_axil_bresp;
    out.axil_arready = top_->s_axil_arready != 0;
    out.axil_rvalid = top_->s_axil_rvalid != 0;
    out.axil_rresp = top_->s_axil_rresp;
    out.axil_rdata = top_->s_axil_rdata;
    out.wqe_ready = top_->s_axis_wqe_tready != 0;
    out.rqe_ready = top_->s_axis_rqe_tready != 0;
    out.cqe_valid = top_->m_axis_cqe_tvalid != 0;
    if (out.cqe_valid) get<32>(out.cqe, top_->m_axis_cqe_tdata);
    out.irq = top_->irq_o != 0;
  }

#define AXI_PINS(N, T)                                   \
  void put_axi_##N() {                                   \
    const AxiIn& axi = in.axi[N];                        \
    top_->m_axi_##T##awready = axi.awready;              \
    top_->m_axi_##T##wready = axi.wready;                \
    top_->m_axi_##T##bvalid = axi.bvalid;                \
    top_->m_axi_##T##bid = axi.bid;                      \
    top_->m_axi_##T##bresp = axi.bresp;                  \
    top_->m_axi_##T##arready = axi.arready;              \
    top_->m_axi_##T##rvalid = axi.rvalid;                \
    if (!axi.rvalid) return;                             \
    put<kData>(top_->m_axi_##T##rdata, axi.rdata);       \
    top_->m_axi_##T##rid = axi.rid;                      \
    top_->m_axi_##T##rresp = axi.rresp;                  \
    top_->m_axi_##T##rlast = axi.rlast;                  \
  }                                                      \
  void get_axi_##N() {                                   \
    AxiOut& axi = out.axi[N];                            \
    axi.awvalid = top_->m_axi_##T##awvalid != 0;         \
    axi.awid = top_->m_axi_##T##awid;                    \
    axi.awaddr = top_->m_axi_##T##awaddr;                \
    axi.awlen = top_->m_axi_##T##awlen;                  \
    axi.awsize = top_->m_axi_##T##awsize;                \
    axi.awburst = top_->m_axi_##T##awburst;              \
    axi.wvalid = top_->m_axi_##T##wvalid != 0;           \
    if (axi.wvalid) {                                    \
      get<kData>(axi.wdata, top_->m_axi_##T##wdata);     \
      get<kData / 8>(axi.wstrb, top_->m_axi_##T##wstrb); \
      axi.wlast = top_->m_axi_##T##wlast != 0;           \
    }                                                    \
    axi.bready = top_->m_axi_##T##bready != 0;           \
    axi.arvalid = top_->m_axi_##T##arvalid != 0;         \
    axi.arid = top_->m_axi_##T##arid;                    \
    axi.araddr = top_->m_axi_##T##araddr;                \
    axi.arlen = top_->m_axi_##T##arlen;                  \
    axi.arsize = top_->m_axi_##T##arsize;                \
    axi.arburst = top_->m_axi_##T##arburst;              \
    axi.rready = top_->m_axi_##T##rready != 0;           \
  }
  DUT_TARGETS(AXI_PINS)
#undef AXI_PINS

  void rise(bool clk, bool clk_mac) override {
    top_->clk = clk;
#if DUT_HAS_MAC_CLK
    top_->clk_mac = clk_mac;
#else
    (void)clk_mac;
#endif
    context_.time(edge_time_);
    top_->eval();
    dump();
  }

  bool open_trace(const std::string& path, std::string& error) override {
#if DUT_TRACE
    trace_ = std::make_unique<VerilatedFstC>();
    top_->trace(trace_.get(), 99);
    trace_->set_time_unit("1ps");
    trace_->set_time_resolution("1ps");
    trace_->open(path.c_str());
    if (!trace_->isOpen()) {
      trace_.reset();
      error = path + ": cannot be written";
      return false;
    }
    return true;
#else
    (void)path;
    error = "this model was built without waveforms";
    return false;
#endif
  }

  bool failed() const override { return context_.gotError() || context_.gotFinish(); }

 private:
  void dump() {
#if DUT_TRACE
    // Edges of two clocks may be closer than the file can tell apart.
    if (!trace_ || context_.time() <= dumped_) return;
    dumped_ = context_.time();
    trace_->dump(dumped_);
#endif
  }

  DutInfo info_;
  Ps settle_time_ = 0;
  Ps edge_time_ = 0;
  VerilatedContext context_;
  std::unique_ptr<Vdut> top_;
#if DUT_TRACE
  std::unique_ptr<VerilatedFstC> trace_;
  uint64_t dumped_ = 0;
#endif
};

}  // namespace

std::unique_ptr<Dut> make_dut(const std::string& name) { return std::make_unique<VerilatedDut>(name); }

}  // namespace rocegen::sim
