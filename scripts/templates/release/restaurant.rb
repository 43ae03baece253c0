class Restaurant < Formula
  desc "Client for a restaurant data service over JSON-RPC and MCP"
  homepage "{{home}}"
  license "{{license}}"

  on_macos do
    on_arm do
      url "{{release}}/restaurant-{{version}}-darwin-arm64.tar.gz"
      sha256 "{{sha256-darwin-arm64}}"
    end
    on_intel do
      url "{{release}}/restaurant-{{version}}-darwin-x64.tar.gz"
      sha256 "{{sha256-darwin-x64}}"
    end
  end

  on_linux do
    on_arm do
      url "{{release}}/restaurant-{{version}}-linux-arm64.tar.gz"
      sha256 "{{sha256-linux-arm64}}"
    end
    on_intel do
      url "{{release}}/restaurant-{{version}}-linux-x64.tar.gz"
      sha256 "{{sha256-linux-x64}}"
    end
  end

  def install
    bin.install "restaurant"
    man1.install "restaurant.1"
    generate_completions_from_executable(bin/"restaurant", "completion")
  end

  test do
    assert_match "Divisadero", shell_output("#{bin}/restaurant find Nopa --city SF --demo")
  end
end
