package complaint

// networkWords are the errors of URLs, TLS, HTTP versions, proxies and the limits of this machine.
func networkWords() [][2]string {
	return [][2]string{
		{"the URL contains a control character; was it pasted with a line break?", "URL 含有控制字符；粘贴时是否带了换行？"},
		{"unix: names no socket; want something like unix:/run/vllm.sock, or unix:/run/vllm.sock:/prefix",
			"unix: 没有指明套接字；应类似 unix:/run/vllm.sock 或 unix:/run/vllm.sock:/prefix"},
		{"unix:%s: %q is not the path of a URL (%s)", "unix:%s：%s 不是 URL 的路径（%s）"},
		{"--http %s: there are 1, 2 and auto", "--http %s：可选 1、2 和 auto"},
		{"--cert: %w", "--cert：%s"}, {"--key: %w", "--key：%s"},
		{"--key: the certificate that belongs to the key is missing; name it with --cert", "--key：缺少与密钥对应的证书；请用 --cert 指定"},
		{"--cert %s: it does not belong to the key in %s", "--cert %s：与 %s 中的密钥不匹配"},
		{"--cert %s: it has no certificate; want a PEM file (-----BEGIN CERTIFICATE-----)", "--cert %s：其中没有证书；应为 PEM 文件（-----BEGIN CERTIFICATE-----）"},
		{"--cert %s: it has no key; name the key's file with --key", "--cert %s：其中没有密钥；请用 --key 指定密钥文件"},
		{"--key %s: it has no key that can be read; want a PEM file without a password (-----BEGIN PRIVATE KEY-----)",
			"--key %s：其中没有可读取的密钥；应为没有密码的 PEM 文件（-----BEGIN PRIVATE KEY-----）"},
		{"%d streams at once need %d file descriptors, and this process may open %d: raise the hard limit (ulimit -Hn %d as root; LimitNOFILE= of systemd, --ulimit nofile= of Docker), or lower %s to %d",
			"同时 %d 个流需要 %d 个文件描述符，而本进程最多打开 %d 个：请提高硬限制（以 root 执行 ulimit -Hn %d；systemd 用 LimitNOFILE=，Docker 用 --ulimit nofile=），或把 %s 降到 %d"},
		{"%d streams at once need as many local ports, and this machine has %d for connections to one server: widen the range (sysctl -w net.ipv4.ip_local_port_range=\"1024 65535\"), or lower %s",
			"同时 %d 个流需要同样多的本地端口，而本机对同一服务只有 %d 个：请扩大范围（sysctl -w net.ipv4.ip_local_port_range=\"1024 65535\"），或降低 %s"},
		{"its certificate expired on %s", "其证书已于 %s 过期"}, {"its certificate is not valid before %s", "其证书在 %s 之前无效"},
		{"its certificate is for %s, not for %s", "其证书属于 %s，而不是 %s"}, {"its certificate is not trusted: it is signed by itself", "其证书不受信任：自签名"},
		{"the server asks for a certificate of the client", "服务要求客户端证书"},
		{"the server does not accept the client's certificate, or misses one (%s)", "服务不接受客户端的证书，或缺少证书（%s）"},
		{"the server speaks no version of TLS that is safe (1.2 or newer)", "服务不支持安全的 TLS 版本（1.2 或更新）"},
		{"the server speaks only HTTP/2", "服务只支持 HTTP/2"}, {"the server does not speak HTTP/2", "服务不支持 HTTP/2"},
		{"the proxy asks for a user name and a password, or does not accept those that it was given", "代理要求用户名和密码，或不接受所给的用户名和密码"},
		{"the proxy refuses to connect: %s", "代理拒绝连接：%s"}, {"%s (on the way to the proxy)", "%s（在连接代理时）"},
		{"no local port is free for another connection: widen net.ipv4.ip_local_port_range, or lower the rate",
			"没有空闲的本地端口可用于新连接：请扩大 net.ipv4.ip_local_port_range，或降低速率"},
	}
}
